import type { Stack } from '../../support/stack.ts';

/**
 * Reads the open differences, of one day if given, one line each: type, reference, and the status in our books and at
 * the provider.
 */
export async function readDifferences(stack: Pick<Stack, 'get'>, token: string, day?: string): Promise<string[]> {
  const { body } = await stack.get(`/v1/reconciliations?limit=100&state=open${day ? `&day=${day}` : ''}`, { token });
  return body.data.items.map(({ resource_type, reference, ours, theirs }: Record<string, { status?: string } | null>) =>
    [resource_type, reference, ours?.status ?? null, theirs?.status ?? null].join(' | '),
  );
}
