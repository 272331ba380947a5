import { gauge, type Metrics } from '../platform/metrics/metrics.ts';
import type { CheckResult } from './run-checks.ts';

/** Creates the gauges of the checks of the books: their results, and when each was last read. */
export function measureChecks(metrics: Metrics) {
  const violations = gauge(metrics, 'amanah_check_violations', 'Rows of each check_* view; 0 is healthy.', ['check']);
  const last = gauge(metrics, 'amanah_checks_read_timestamp_seconds', 'When any check was last read.', []);
  const each = gauge(metrics, 'amanah_check_read_timestamp_seconds', 'When each check was last read; 0 if never.', [
    'check',
  ]);
  const known = new Set<string>();
  return {
    /** Sets the checks that should run, so that a check that never ran also has a value for alarms. */
    expect(checks: readonly string[]): void {
      for (const check of checks) if (!known.has(check)) each.set({ check }, 0);
      for (const check of checks) known.add(check);
    },
    read(results: readonly Pick<CheckResult, 'check' | 'violations'>[]): void {
      for (const { check, violations: count } of results) {
        known.add(check);
        violations.set({ check }, count);
        each.setToCurrentTime({ check });
      }
      last.setToCurrentTime();
    },
  };
}
