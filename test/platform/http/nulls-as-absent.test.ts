import { z } from 'zod';
import { nullsAsAbsent } from '../../../src/platform/http/nulls-as-absent.ts';
import { routeGroups } from '../../../src/wiring/app.ts';

const posts = routeGroups.flatMap(({ routes }) => routes).filter(({ method, body }) => method === 'post' && body);
const optional = posts.flatMap(({ path, body }) =>
  body instanceof z.ZodObject
    ? Object.entries<z.ZodType>(body.shape)
        .filter(([, field]) => field.safeParse(undefined).success)
        .map(([name, field]) => [`${path} ${name}`, field] as const)
    : [],
);

describe('Null in the body of a POST', () => {
  it('is tested in many fields', () => {
    expect(optional.length).toBeGreaterThan(30);
  });

  it.each(optional)('is the same as absent: %s', (_, field) => {
    const [given, absent] = [field.safeParse(null), field.safeParse(undefined)];
    expect(given.success).toBe(true);
    expect(given.data ?? undefined).toEqual(absent.data ?? undefined);
  });

  it('is refused if the field is required, and kept if it means something', () => {
    const schema = nullsAsAbsent(
      z.strictObject({
        name: z.string(),
        size: z.int().default(3),
        note: z.string().optional(),
        owner: z.string().nullable().default(null),
        place: z.strictObject({ city: z.string().optional() }),
      }),
    );
    expect(schema.parse({ name: 'a', size: null, note: null, place: { city: null } })).toEqual({
      name: 'a',
      size: 3,
      note: undefined,
      owner: null,
      place: { city: undefined },
    });
    expect(schema.safeParse({ name: null, place: {} }).success).toBe(false);
    expect(schema.safeParse({ name: 'a', place: {}, other: null }).success).toBe(false);
    expect(schema.safeParse({ name: 'a', place: {}, note: 1 }).success).toBe(false);
  });
});
