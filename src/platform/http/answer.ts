import type { Readable } from 'node:stream';

const mark = Symbol('answer');

/** A response with its own status and headers, for handlers that need more than a body with 200. */
export interface Answer {
  [mark]: true;
  status: number;
  body: object | string | Buffer | Readable | undefined;
  headers: Record<string, string>;
}

/** Returns a response with any status; a Buffer or string body is sent unchanged, an object as JSON. */
export function answer(status: number, body?: Answer['body'], headers: Record<string, string> = {}): Answer {
  return { [mark]: true, status, body, headers };
}

/** 201: something was created. */
export const created = (body: object, headers?: Record<string, string>): Answer => answer(201, body, headers);

/** 200 with a body that is streamed as it is produced. */
export const stream = (body: Readable, headers: Record<string, string>): Answer => answer(200, body, headers);

export function isAnswer(value: object): value is Answer {
  return mark in value;
}
