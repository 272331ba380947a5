import { execFile } from 'node:child_process';
import { reconcileDay } from '../../../src/control/reconciliation/reconcile-day.ts';
import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { onlyProvider } from '../../support/only-provider.ts';
import type { Stack } from '../../support/stack.ts';

/** Compares a day (UTC+7, by default today) with the provider's records; a workflow that cannot be woken fails it. */
export const reconcileOn = (
  { em, deps }: Pick<Stack, 'deps' | 'em'>,
  { day = westernIndonesiaDay(new Date()), by }: { day?: string; by?: Gateway } = {},
) =>
  reconcileDay(
    em(),
    {
      ...deps,
      ...(by && { gateways: onlyProvider(by) }),
      failed: (_: string, subject: string, error: unknown) => {
        throw new Error(`the owner of ${subject} was not woken`, { cause: error });
      },
    },
    { day, takenBy: newId() },
  );

/** Returns the exit status of `npm run reconcile` for today on this stack. */
export const statusOfReconcile = ({ env }: Pick<Stack, 'env'>): Promise<number> =>
  new Promise((resolve) => {
    const command = ['src/wiring/commands/reconcile.ts', '--day', westernIndonesiaDay(new Date())];
    execFile(process.execPath, command, { env: { ...env, NODE_NO_WARNINGS: '1' } }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
