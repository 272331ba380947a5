import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { changesTo } from '../shared/changes.ts';
import { refuse } from '../shared/errors.ts';
import { formatMoney } from '../shared/money.ts';
import { type Asking, changeCircle, recordChange, type WakingCircles } from './change-circle.ts';
import { requireManager } from './circle-access.ts';
import { CircleMember } from './circle-member.entity.ts';
import type { CircleChange } from './circle-shape.ts';
import { refuseTooMuch } from './create-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { readStartDate } from './start-date.ts';
import {
  type CircleTerms,
  columnsOf,
  drawsWithEntropy,
  guaranteeOf,
  needsConsent,
  termsAskedFor,
  termsOf,
} from './terms.ts';

/** The requested changes, with complete terms. */
type Changed = Omit<CircleChange, 'terms'> & { terms?: CircleTerms | null | undefined };

/** Fields that may also change once the circle is no longer `new`. */
const alwaysChangeable = ['name', 'visibility'];

/**
 * Changes a circle, for its managers, and signals its workflow: every field while it is `new`, then only name and
 * visibility. Once others have joined, amount, first turn and terms are fixed, and the start can only move later.
 * Throws NOT_FOUND, FORBIDDEN, and 400 for other changes, a capacity below the number of members, a turn beyond the
 * capacity, and a day before today.
 */
export function updateCircle(
  em: EntityManager,
  ports: WakingCircles,
  updating: Asking & { change: CircleChange },
): Promise<SavingCircle> {
  return changeCircle(em, ports, updating, async (tx, circle) => {
    requireManager(updating.caller, circle);
    const { terms, ...others } = updating.change;
    const before = termsOf(circle);
    const asked = { ...others, terms: terms && termsAskedFor(terms, before) };
    const changes = changesTo<Changed>({ ...circle, terms: before }, asked);
    const fields = Object.keys(changes);
    if (fields.length === 0) return circle;
    const fixed = circle.status === 'new' ? [] : fields.filter((field) => !alwaysChangeable.includes(field));
    if (fixed.length > 0) {
      refuse('REQUEST_INVALID', `${fixed.join(', ')}: can only be changed while the saving circle is new`);
    }
    if (changes.name !== undefined) circle.name = changes.name;
    if (changes.visibility !== undefined) circle.visibility = changes.visibility;
    if (circle.status === 'new') await changePlan(tx, circle, changes);
    circle.updated_at = await readDatabaseClock(tx);
    await tx.flush();
    await recordChange(tx, circle.id, { fields }, { by: updating });
    return circle;
  });
}

/** Refuses terms whose requirements the creator, the only member, does not meet. */
function refuseUnmet(circle: SavingCircle, members: readonly CircleMember[]): void {
  const missing =
    (drawsWithEntropy(circle) && members.some(({ entropy }) => !entropy) && 'entropy') ||
    (needsConsent(circle) && members.some(({ consented_at }) => !consented_at) && 'consent');
  if (missing) {
    refuse('REQUEST_INVALID', `the creator has joined without \`${missing}\` and would have to leave first`, {
      field: 'terms',
    });
  }
}

async function changePlan(tx: EntityManager, circle: SavingCircle, change: Changed): Promise<void> {
  const { capacity, start_date, amount, current_turn, terms } = change;
  const start = start_date === undefined ? undefined : readStartDate(start_date, await readDatabaseClock(tx));
  const members = await tx.find(CircleMember, { saving_circle_id: circle.id }, { refresh: true });
  if (members.some(({ user_id }) => user_id !== circle.created_by)) {
    for (const [field, value] of Object.entries({ amount, current_turn, terms })) {
      if (value !== undefined) refuse('REQUEST_INVALID', 'cannot be changed once others have joined', { field });
    }
    if (start !== undefined && start.starts_at < circle.starts_at) {
      refuse('REQUEST_INVALID', 'can only be moved later once others have joined', { field: 'start_date' });
    }
  }
  if (terms !== undefined) {
    Object.assign(circle, columnsOf(terms));
    refuseUnmet(circle, members);
  }
  if (start !== undefined) Object.assign(circle, start);
  if (amount !== undefined) circle.amount = formatMoney(amount);
  guaranteeOf(circle, circle.amount, terms === undefined ? 'amount' : 'terms.guarantee_percent');
  if (capacity !== undefined) {
    if (capacity < members.length)
      refuse('REQUEST_INVALID', `must not be below the ${members.length} members`, { field: 'capacity' });
    circle.capacity = capacity;
  }
  refuseTooMuch(circle.amount, circle.capacity, amount === undefined ? 'capacity' : 'amount');
  if (current_turn !== undefined) circle.current_turn = current_turn;
  if (circle.current_turn > circle.capacity) {
    const field = current_turn === undefined ? 'capacity' : 'current_turn';
    refuse('REQUEST_INVALID', `the first turn, ${circle.current_turn}, is beyond the ${circle.capacity} places`, {
      field,
    });
  }
}
