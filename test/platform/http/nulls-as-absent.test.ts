import { z } from 'zod';
import { nullsAsAbsent } from '../../../src/platform/http/nulls-as-absent.ts';
import { judge } from '../../../src/platform/http/validate.ts';
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
  it('Null is tested in more than 30 optional fields', () => {
    expect(optional.length).toBeGreaterThan(30);
  });

  it.each(optional)('Null means absent in a POST: %s', (_, field) => {
    const [given, absent] = [field.safeParse(null), field.safeParse(undefined)];
    expect(given.success).toBe(true);
    expect(given.data ?? undefined).toEqual(absent.data ?? undefined);
  });

  it('Null in a required field of a POST is reported as missing', () => {
    const wrong = posts.flatMap(({ path, body }) => {
      if (!(body instanceof z.ZodObject)) return [];
      const required = Object.entries<z.ZodType>(body.shape).filter(([, field]) => !field.safeParse(undefined).success);
      return [undefined, null].flatMap((nothing) => {
        const judged = judge(body, Object.fromEntries(required.map(([name]) => [name, nothing])), []);
        const said = 'complaints' in judged ? judged.complaints.map(({ message }) => message) : [];
        return required
          .filter(([name]) => !said.includes(`${name}: is required`))
          .map(([name]) => `${path} ${name} ${nothing}`);
      });
    });
    expect(wrong).toEqual([]);
  });

  it('Null is rejected in a required field, and stored where it has a meaning', () => {
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
