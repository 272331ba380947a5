import { z } from 'zod';
import { isOneLine, isVisible, type Metadata } from '../../shared/plain-text.ts';

const mostKeys = 20;
const keyCharacters = 40;
const valueCharacters = 500;
const example = { order_id: '2026-0042', note: 'Gift card\nfor Siti' };

/** Whether a text is longer, counted in code points as JSON Schema does. */
const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most);

/** Control characters other than line feeds, the only ones allowed in values. */
const controlsInValue = /[^\P{Cc}\n]/u;

const complainOfKey = (key: string): string | null => {
  if (isLonger(key, keyCharacters)) return `must be at most ${keyCharacters} characters long`;
  if (!isVisible(key)) return 'must have a visible character';
  return isOneLine(key) && key.isWellFormed() ? null : 'must be one line, without control characters';
};

const complainOfValue = (value: unknown): string | null => {
  if (typeof value !== 'string') return 'must be text';
  if (isLonger(value, valueCharacters)) return `must have at most ${valueCharacters} characters`;
  if (!value.isWellFormed()) return 'must not contain half of a character (a lone surrogate)';
  return controlsInValue.test(value) ? 'must not contain control characters other than line feeds' : null;
};

/**
 * Optional `metadata` in a request, stored as sent: at most 20 keys of 1 to 40 characters on one line; values are
 * strings of at most 500 characters without control characters other than line feeds.
 */
export const metadata = () =>
  z
    .custom<Metadata>(
      (value) => typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype,
      'must be an object of texts',
    )
    .superRefine((value, ctx) => {
      const entries = Object.entries(value);
      if (entries.length > mostKeys) ctx.addIssue({ code: 'custom', message: `must have at most ${mostKeys} keys` });
      for (const [key, text] of entries.slice(0, mostKeys)) {
        const ofKey = complainOfKey(key);
        const ofValue = complainOfValue(text);
        if (ofKey !== null) ctx.addIssue({ code: 'custom', message: `each key ${ofKey}` });
        else if (ofValue !== null) ctx.addIssue({ code: 'custom', path: [key], message: ofValue });
      }
    })
    .meta({
      override: {
        type: 'object',
        maxProperties: mostKeys,
        propertyNames: { type: 'string', minLength: 1, maxLength: keyCharacters },
        additionalProperties: { type: 'string', maxLength: valueCharacters },
        examples: [example],
      },
    })
    .optional()
    .meta({
      description:
        'Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. ' +
        'It is encrypted and later deleted, as names are.',
    });

/** `metadata` in responses: as sent, or null. */
export const shownMetadata = () =>
  z
    .record(z.string(), z.string())
    .nullable()
    .meta({ description: 'As you sent it, or null.', examples: [example] });
