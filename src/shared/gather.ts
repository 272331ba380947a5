import { AsyncLocalStorage } from 'node:async_hooks';
import { busy, tooLate } from './concurrency.ts';
import { withPatience } from './patience.ts';

export interface GatherOptions<Question, Answer> {
  /**
   * Answers a batch of questions in order. Called after the last question has joined, so its data is never older than a
   * question. If one question makes it fail (`isOfOne`), it must have had no effect.
   */
  run(questions: readonly Question[]): Promise<readonly Answer[]>;
  /** Whether a single question may have caused the failure: then each runs alone, and only that one fails. */
  isOfOne(error: unknown): boolean;
  /** Keys that no two questions of a run, or of concurrent runs, may share; none by default. */
  apart?(question: Question): readonly string[];
  /** Milliseconds in line; a question that waits longer is refused. */
  waitMs: number;
  /** Milliseconds until the questions of a run time out (ETIMEDOUT), done or not, and the next run may start. */
  runMs: number;
  /** Maximum questions per run. */
  most?: number;
  /** Maximum concurrent runs. A second run starts only if full or if the first is slow. */
  underWay?: number;
  /** Milliseconds after which a run is slow. */
  slowMs?: number;
  /** The longest line; more questions are refused. */
  mostWaiting?: number;
}

interface Member<Question, Answer> {
  question: Question;
  over: NodeJS.Timeout;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Maximum concurrent questions when each runs alone, so that one waiting for a lock delays few others. */
const aloneAtOnce = 4;

/**
 * Group commit: questions that arrive during a run wait and then go together. On an idle system a question goes at
 * once, with others from the same turn of the event loop; the more arrive together, the less each costs. Two half-empty
 * runs cost more than one, so a second run starts only if full; a slow run (a lock, a stalled connection) does not
 * delay others while it is the only one. Queue and waits are bounded: beyond a bound a question is refused with
 * SERVICE_UNAVAILABLE, without effect.
 */
export function createGathering<Question, Answer>({
  run,
  isOfOne,
  apart = () => [],
  waitMs,
  runMs,
  most = 32,
  underWay = 2,
  slowMs = 50,
  mostWaiting = 2000,
}: GatherOptions<Question, Answer>): (question: Question) => Promise<Answer> {
  type Line = Member<Question, Answer>[];
  const line: Line = [];
  let runs = 0;
  /** The runs that are not slow. */
  let quick = 0;
  let willSend = false;
  const held = new Set<string>();
  // A run belongs to all its members, so it inherits no member's trace or time limit.
  const asNobody = AsyncLocalStorage.snapshot();

  /** Runs each question alone if one of them is at fault, until the run times out. */
  async function runTogether(members: Line, isLate: () => boolean): Promise<void> {
    try {
      const answers = await run(members.map(({ question }) => question));
      if (answers.length !== members.length) throw new Error('a run must return one answer per question');
      for (const [index, member] of members.entries()) member.resolve(answers[index] as Answer);
    } catch (error) {
      if (members.length > 1 && isOfOne(error)) {
        const left = [...members];
        const runRest = async () => {
          for (let member = left.shift(); member !== undefined && !isLate(); member = left.shift()) {
            await runTogether([member], isLate);
          }
        };
        await Promise.all(Array.from({ length: aloneAtOnce }, runRest));
      } else for (const member of members) member.reject(error);
    }
  }

  async function runInTime(members: Line): Promise<void> {
    let isLate = false;
    try {
      await withPatience(runMs, () => runTogether(members, () => isLate));
    } catch (error) {
      // Only a time-out is caught here; the members get a run's errors.
      isLate = true;
      for (const member of members) member.reject(error);
    }
  }

  /** Takes the next questions in line that may run together, and reserves their `apart` keys. */
  function takeNext(): Line {
    const members: Line = [];
    for (let at = 0; at < line.length && members.length < most; ) {
      const member = line[at] as Line[number];
      const holds = apart(member.question);
      if (holds.some((key) => held.has(key))) {
        at += 1;
        continue;
      }
      for (const key of holds) held.add(key);
      clearTimeout(member.over);
      members.push(member);
      line.splice(at, 1);
    }
    return members;
  }

  /** Sends the line once everything that arrives in this turn of the event loop has joined it. */
  function sendSoon(): void {
    if (willSend) return;
    willSend = true;
    setImmediate(() => {
      willSend = false;
      asNobody(send);
    });
  }

  function send(): void {
    while (runs < underWay && (quick === 0 || line.length >= most)) {
      const members = takeNext();
      if (members.length === 0) return;
      runs += 1;
      quick += 1;
      let isQuick = true;
      const leaveQuick = () => {
        if (isQuick) quick -= 1;
        isQuick = false;
      };
      const slow = setTimeout(() => {
        leaveQuick();
        send();
      }, slowMs);
      void runInTime(members).then(() => {
        clearTimeout(slow);
        leaveQuick();
        runs -= 1;
        for (const { question } of members) for (const key of apart(question)) held.delete(key);
        send();
      });
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      if (line.length >= mostWaiting) {
        reject(busy('Too many are waiting for this; try again'));
        return;
      }
      const over = setTimeout(() => {
        line.splice(line.indexOf(member), 1);
        reject(tooLate());
      }, waitMs);
      const member: Member<Question, Answer> = { question, over, resolve, reject };
      line.push(member);
      sendSoon();
    });
}
