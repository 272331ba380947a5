import { sweepReadEvents } from '../../../src/platform/events/list-events.ts';
import { recordEvent, recordRead } from '../../../src/platform/events/record-event.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildPlatformAdmin } from '../../support/build.ts';
import { makeMonthsSince } from '../../support/make-months.ts';
import { type Stack, startStack } from '../../support/stack.ts';

interface EventItem {
  id: string;
  event: string;
  created_at: string;
  resource_id: string;
}

describe('GET /v1/events', () => {
  let stack: Stack;
  let platformAdmin: BuiltUser;
  beforeAll(async () => {
    stack = await startStack();
    platformAdmin = await buildPlatformAdmin(stack);
  });
  afterAll(() => stack?.stop());

  const list = async (query: string): Promise<{ items: EventItem[]; total: number }> => {
    const { status, body } = await stack.get(`/v1/events?${query}`, { token: platformAdmin.token });
    expect(status).toBe(200);
    return body.data;
  };
  const record = (fields: { event?: string; resourceType?: string; resourceId?: string; actorId?: string }) =>
    recordEvent(stack.em(), {
      event: 'RESOURCE_UPDATED',
      resourceType: 'thing',
      resourceId: newId(),
      actorId: null,
      requestId: null,
      ...fields,
    });

  it('Organization admins, individuals and unauthenticated callers may not list events', async () => {
    expect((await stack.get('/v1/events', { token: (await buildOrganizationAdmin(stack)).token })).status).toBe(403);
    expect((await stack.get('/v1/events', { token: (await buildIndividual(stack)).token })).status).toBe(403);
    expect((await stack.get('/v1/events')).status).toBe(401);
  });

  it('Events are listed with message and data: items, page, limit and total, newest first', async () => {
    const resourceId = newId();
    for (const event of ['FIRST', 'SECOND', 'THIRD']) await record({ resourceId, event });
    const { body } = await stack.get(`/v1/events?resource_id=${resourceId}`, { token: platformAdmin.token });
    expect(body).toEqual({
      message: expect.any(String),
      data: { items: expect.any(Array), page: 1, limit: 10, total: 3 },
    });
    expect(body.data.items.map(({ event }: EventItem) => event)).toEqual(['THIRD', 'SECOND', 'FIRST']);
    expect(body.data.items[0]).toEqual({
      id: expect.any(String),
      event: 'THIRD',
      impact: 'MEDIUM',
      resource_type: 'thing',
      resource_id: resourceId,
      actor_id: null,
      request_id: null,
      data: null,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
    });
  });

  it('Events are filtered by event, resource type, resource and actor', async () => {
    const actorId = newId();
    const resourceId = newId();
    await record({ actorId, resourceId, event: 'SOMETHING_ELSE', resourceType: 'widget' });
    await record({ actorId });
    expect((await list(`actor_id=${actorId}`)).total).toBe(2);
    expect((await list('event=SOMETHING_ELSE')).total).toBe(1);
    expect((await list('resource_type=widget')).total).toBe(1);
    expect((await list(`resource_id=${resourceId}&actor_id=${actorId}&event=SOMETHING_ELSE`)).total).toBe(1);
    expect((await list(`resource_id=${resourceId}&event=RESOURCE_DELETED`)).total).toBe(0);
  });

  it('Events are filtered by period: date-times, and whole days in UTC+7', async () => {
    const resourceId = newId();
    await stack.owner().execute("select make_month('events', '2026-03-01')");
    for (const at of [
      '2026-03-01T16:59:59.999Z',
      '2026-03-01T17:00:00.000Z',
      '2026-03-02T16:59:59.999Z',
      '2026-03-02T17:00Z',
    ]) {
      await record({ resourceId });
      await stack.owner().execute(
        `update events set created_at = ?, id = uuidv7(?::timestamptz - now())
           where id = (select id from events where resource_id = ? order by id desc limit 1)`,
        [at, at, resourceId],
      );
    }
    const days = async (period: string) => (await list(`resource_id=${resourceId}&${period}`)).total;
    expect(await days('from=2026-03-02&to=2026-03-02')).toBe(2);
    expect(await days('to=2026-03-01')).toBe(1);
    expect(await days('from=2026-03-03')).toBe(1);
    expect(await days('from=2026-03-01T17:00:00Z&to=2026-03-02T16:59:59.999Z')).toBe(2);
    expect(await days('from=2026-03-02T00:00:00%2B07:00')).toBe(3);
    expect(await days('from=0000-01-01&to=9999-12-31')).toBe(4);
  });

  it.each(['from=yesterday', 'to=2026-02-30', 'actor_id=7', 'page=0', 'limit=101', 'event=', 'resource_id=%00'])(
    'Listing events with %s returns 400',
    async (query) => {
      expect((await stack.get(`/v1/events?${query}`, { token: platformAdmin.token })).status).toBe(400);
    },
  );

  it('Paging events by page number and by the last row returns the same rows', async () => {
    const actorId = newId();
    for (let index = 0; index < 7; index += 1) await record({ actorId, event: `E${index}` });
    const names = async (query: string) => (await list(`actor_id=${actorId}&${query}`)).items.map(({ event }) => event);
    expect(await names('limit=3')).toEqual(['E6', 'E5', 'E4']);
    expect(await names('limit=3&page=2')).toEqual(['E3', 'E2', 'E1']);
    const { items } = await list(`actor_id=${actorId}&limit=3`);
    expect(await names(`limit=3&after=${items[2]?.id}`)).toEqual(['E3', 'E2', 'E1']);
    expect(await names('limit=2&order=asc')).toEqual(['E0', 'E1']);
    expect(await names('page=5')).toEqual([]);
  });

  it('A change that was rolled back leaves no event', async () => {
    const resourceId = newId();
    const failed = stack.em().transactional(async (tx) => {
      await recordEvent(tx, {
        event: 'RESOURCE_CREATED',
        resourceType: 'thing',
        resourceId,
        actorId: null,
        requestId: null,
      });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect((await list(`resource_id=${resourceId}`)).total).toBe(0);
  });

  it.each([
    ['user', '/v1/users', async ({ id }: BuiltUser) => id],
    [
      'address',
      '/v1/addresses',
      async ({ token }: BuiltUser) => {
        const address = { province: 'Jawa Barat', city: 'Bandung', country: 'Indonesia' };
        return (await stack.post('/v1/addresses', address, { token })).body.data.address.id;
      },
    ],
    [
      'official_document',
      '/v1/official-documents',
      async ({ token }: BuiltUser) => {
        const document = { kind: 'national_id', number: '3273014501900001', name_on_document: 'Siti Rahmawati' };
        return (await stack.post('/v1/official-documents', document, { token })).body.data.official_document.id;
      },
    ],
  ])(
    'Reading another’s %s as a platform user, alone or in a list, records an event; reading one’s own does not',
    async (type, path, make) => {
      const owner = await buildIndividual(stack);
      const [id, own] = [await make(owner), await make(platformAdmin)];
      const mine = `event=RESOURCE_FETCHED&actor_id=${platformAdmin.id}&resource_type=${type}`;
      const before = (await list(mine)).total;
      for (const address of [`${path}/${id}`, `${path}/${own}`, path]) {
        expect((await stack.get(address, { token: platformAdmin.token })).status).toBe(200);
      }
      await stack.get(`${path}/${id}`, { token: owner.token });
      expect((await list(`event=RESOURCE_FETCHED&actor_id=${owner.id}`)).total).toBe(0);
      expect((await list(mine)).total).toBe(before + 2);
      expect((await list(`${mine}&resource_id=${id}`)).items).toMatchObject([{ impact: 'LOW' }]);
    },
  );

  it('Only read events are deleted after 90 days', async () => {
    const resourceId = newId();
    await makeMonthsSince(stack.owner(), '91 days');
    await recordRead(stack.em(), { resourceType: 'thing', resourceId, actorId: null, requestId: 'r' });
    await recordRead(stack.em(), { resourceType: 'thing', resourceId, actorId: null, requestId: 'old' });
    await record({ resourceId });
    const age = (days: number, where: string) =>
      stack.owner().execute(
        `update events set created_at = now() - interval '${days} days', id = uuidv7(interval '-${days} days')
           where resource_id = ? and ${where}`,
        [resourceId],
      );
    await age(89, "request_id = 'r'");
    await age(91, "request_id = 'old' or request_id is null");
    expect(await sweepReadEvents(stack.em())).toBe(1);
    expect((await list(`resource_id=${resourceId}`)).total).toBe(2);
  });
});
