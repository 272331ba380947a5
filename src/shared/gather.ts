import { AsyncLocalStorage } from 'node:async_hooks';
import { busy, tooLate } from './concurrency.ts';

export interface GatherOptions<Question, Answer> {
  /**
   * Does everything that was gathered at once, and answers each question, in their order. Called after the last of them
   * has joined, so what it reads is never older than any question. When it fails, nothing of it may have been done.
   */
  run(questions: readonly Question[]): Promise<readonly Answer[]>;
  /** Whether a failure may be the fault of one question: then each is asked alone, and only that one fails. */
  isOfOne(error: unknown): boolean;
  /** What no two of a run have in common, nor of runs that are under way at a time; nothing unless given. */
  apart?(question: Question): readonly string[];
  /** Milliseconds in line; whoever has waited for longer is refused. */
  waitMs: number;
  /** Milliseconds from sending until those who are in it are refused and the next ones may go. */
  runMs: number;
  /** So many go together at most. */
  most?: number;
  /** So many runs are under way at a time. */
  underWay?: number;
  /** So many wait in line; whoever comes then is refused. */
  mostWaiting?: number;
}

interface Member<Question, Answer> {
  question: Question;
  inLine: boolean;
  over: NodeJS.Timeout | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Group commit: what arrives while a run is under way waits for the next one, and then all goes together. Nothing ever
 * waits for company: on an idle system each question goes at once and alone, and the more there are at a time, the less
 * each of them costs. Line and waits are bounded; whoever meets a bound is refused with SERVICE_UNAVAILABLE, and nothing
 * is done while it was in line.
 */
export function createGathering<Question, Answer>({
  run,
  isOfOne,
  apart = () => [],
  waitMs,
  runMs,
  most = 32,
  underWay = 2,
  mostWaiting = 2000,
}: GatherOptions<Question, Answer>): (question: Question) => Promise<Answer> {
  type Line = Member<Question, Answer>[];
  const line: Line = [];
  let runs = 0;
  const held = new Set<string>();
  // A run belongs to everybody in it: to the trace and the time limit of none of them.
  const asNobody = AsyncLocalStorage.snapshot();

  /** Not for those who have been refused meanwhile: what they were told is that it was not done. */
  async function runTogether(members: Line, isLate: () => boolean): Promise<void> {
    try {
      const answers = await run(members.map(({ question }) => question));
      if (answers.length !== members.length) throw new Error('each question has one answer');
      for (const [index, member] of members.entries()) member.resolve(answers[index] as Answer);
    } catch (error) {
      if (members.length > 1 && isOfOne(error)) {
        for (const member of members) if (!isLate()) await runTogether([member], isLate);
      } else for (const member of members) member.reject(error);
    }
  }

  async function runInTime(members: Line): Promise<void> {
    let over: NodeJS.Timeout | undefined;
    let isLate = false;
    const late = new Promise<void>((resolve) => {
      over = setTimeout(() => {
        isLate = true;
        for (const member of members) member.reject(tooLate());
        resolve();
      }, runMs);
    });
    await Promise.race([runTogether(members, () => isLate), late]);
    clearTimeout(over);
  }

  /** The next ones in line that may go together; they hold what keeps others apart. */
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
      member.inLine = false;
      members.push(member);
      line.splice(at, 1);
    }
    return members;
  }

  function send(): void {
    while (runs < underWay) {
      const members = takeNext();
      if (members.length === 0) return;
      runs += 1;
      void asNobody(() => runInTime(members)).then(() => {
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
      const member: Member<Question, Answer> = { question, inLine: true, over: undefined, resolve, reject };
      line.push(member);
      send();
      if (member.inLine) {
        member.over = setTimeout(() => {
          line.splice(line.indexOf(member), 1);
          reject(tooLate());
        }, waitMs);
      }
    });
}
