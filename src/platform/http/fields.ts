import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { isNameForBank } from '../../shared/bank-text.ts';
import { startOfWesternIndonesiaDay } from '../../shared/clock.ts';
import { isMoney, type Money } from '../../shared/money.ts';
import { isOneLine, isPlainText, isVisible } from '../../shared/plain-text.ts';
import { passwordMaximumCharacters, passwordMinimumCharacters } from '../../shared/user.ts';
import { NumberLiteral } from './json-body.ts';

/** A UUID of any version; returned in lower case. */
export const uuid = () => z.guid('must be a UUID').toLowerCase().meta({ format: 'uuid' });

/** A UUID of version 4; returned in lower case. */
export const uuidV4 = () => z.uuid({ version: 'v4', error: 'must be a UUID v4' }).toLowerCase();

const brokenCharacter = 'must not contain half of a character (a lone surrogate)';

/** Aborts, because the other checks may take quadratic time for a longer text. */
const atMost = (maximum: number) => ({ error: `must have at most ${maximum} characters`, abort: true });

const storable = (maximum: number) =>
  z
    .string()
    .max(maximum, atMost(maximum))
    .refine((value) => value.isWellFormed(), { error: brokenCharacter, abort: true })
    .refine(isPlainText, { error: 'must not contain control characters', abort: true });

const severalLines = 'must be one line, without tabs, line breaks or direction marks';

const trimmed = (sent: z.ZodString, minimum: number) =>
  sent
    .trim()
    .min(minimum, minimum === 1 ? 'must not be empty' : `must have at least ${minimum} characters`)
    .refine((value) => value === '' || isVisible(value), 'must have a visible character');

/**
 * A text of `minimum` (default 1) to `maximum` characters, trimmed, on one line, and with at least one visible
 * character unless empty. The maximum applies before trimming, as OpenAPI can express only that.
 */
export const text = (maximum: number, minimum = 1) =>
  trimmed(storable(maximum).refine(isOneLine, { error: severalLines, abort: true }), minimum);

/** A person's or organization's name that is sent to a bank, which accepts Latin letters only; shown as given. */
export const nameAtBank = (maximum: number) =>
  text(maximum).refine(isNameForBank, 'must have a Latin letter or a digit: banks accept no others');

/** Like `text`, but of any number of lines: for descriptions, not names. */
export const prose = (maximum: number, minimum = 1) => trimmed(storable(maximum), minimum);

/** A text on one line, stored as sent, including white space. */
export const verbatimText = (maximum: number) => storable(maximum).refine(isOneLine, severalLines);

/** A partner's own reference: stored, shown and searched as sent, so that the partner can find it. */
export const externalRef = () =>
  verbatimText(128)
    .regex(/\S/, 'must not be empty')
    .meta({ examples: ['invoice-2026-0042'] });

/** A text that may be empty. */
export const optionalText = (maximum: number) => text(maximum, 0).optional();

/** An optional field of a PATCH: null clears it. */
export const clearable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

/** An email address, trimmed. */
export const email = () =>
  z
    .string()
    .max(254, atMost(254))
    .trim()
    .check(z.email('must be an e-mail address'))
    .refine((value) => value.lastIndexOf('@') <= 64, 'must have at most 64 characters before the @');

/** An https URL of 11 to 255 characters, as the payment provider accepts them; stored as sent. */
export const httpsUrl = () =>
  z
    .string()
    .max(255, atMost(255))
    .refine((value) => /^https:\/\/[^\s\\]{3,}$/.test(value) && isPlainText(value) && URL.canParse(value), {
      error: 'must be a URL that begins with https://',
    })
    .meta({ format: 'uri', pattern: '^https://' });

const passwordAtMost = atMost(passwordMaximumCharacters);

/** A password as typed: Unicode form NFKC may turn up to four of its characters into one. */
const typedPassword = () => z.string().max(4 * passwordMaximumCharacters, passwordAtMost);

/** A password to compare; its length is measured in Unicode form NFKC. */
export const knownPassword = () =>
  typedPassword()
    .min(1)
    .refine((value) => value.normalize('NFKC').length <= passwordMaximumCharacters, passwordAtMost)
    .meta({ format: 'password', maxLength: passwordMaximumCharacters });

/** A new password: at least 12 characters in Unicode form NFKC. */
export const password = () =>
  typedPassword()
    .normalize('NFKC')
    .min(passwordMinimumCharacters, `must have at least ${passwordMinimumCharacters} characters`)
    .max(passwordMaximumCharacters, passwordAtMost)
    .meta({ format: 'password' });

/** The error for fifty thousand written as 50.000, refused everywhere because it might mean fifty. */
const threeDecimals = 'has three decimals: a point separates decimals, and fifty thousand is 50000';
const hasThreeDecimals = (value: string): boolean => /\.\d{3}$/.test(value);
const moneyPattern = '(0|[1-9]\\d{0,15})(\\.(\\d{1,2}|\\d{4}))?$';

const literal = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The longest amount: parsing may take quadratic time. */
const longestLiteral = 64;

/** Reads a JSON number literal as money, or returns the error. */
function readLiteral(source: string): { amount: Money } | { complaint: string } {
  if (source.length > longestLiteral) return { complaint: 'must have at most 15 significant digits' };
  if (hasThreeDecimals(source)) return { complaint: threeDecimals };
  const [, whole = '', fraction = '', exponent = '0'] = literal.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '');
  if (digits.length > 15) return { complaint: 'must have at most 15 significant digits' };
  if (Math.abs(Number(exponent)) > 20) return { complaint: 'is out of range' };
  const value = new Decimal(source);
  if (Math.max(value.decimalPlaces(), exponent === '0' ? fraction.length : 0) > 4) {
    return { complaint: 'must have at most four decimals' };
  }
  const amount = value.toFixed();
  return isMoney(amount) ? { amount } : { complaint: 'is out of range' };
}

/**
 * Money sent as a JSON number: read from its literal digits (at most 15 significant, at most four decimals;
 * docs/contract.md 0), greater than zero, and returned as a decimal string. A JSON string is refused.
 */
export const moneyNumber = () =>
  z
    .custom<NumberLiteral>((value) => value instanceof NumberLiteral, {
      error: ({ input }) => ((input ?? null) === null ? 'is required' : 'must be a number'),
    })
    .transform((value, ctx): Money => {
      const read = readLiteral(value.source);
      if ('amount' in read) {
        if (!read.amount.startsWith('-') && /[1-9]/.test(read.amount)) return read.amount;
        ctx.addIssue({ code: 'custom', message: 'must be greater than zero' });
      } else {
        ctx.addIssue({ code: 'custom', message: read.complaint });
      }
      return z.NEVER;
    })
    .meta({ 'x-money-literal': true, override: { type: 'number', exclusiveMinimum: 0, examples: [50000] } });

/** Money as a decimal string greater than zero, at most four decimals. */
export const moneyString = () =>
  z
    .string('must be a decimal string')
    .refine((value) => /^-?(0|[1-9]\d{0,15})(\.\d+)?$/.test(value), { error: 'must be a decimal string', abort: true })
    .refine((value) => isMoney(value), { error: 'must have at most four decimals', abort: true })
    .refine((value) => !hasThreeDecimals(value), { error: threeDecimals, abort: true })
    .refine((value) => /^[^-]*[1-9]/.test(value), 'must be greater than zero')
    .meta({ pattern: `^${moneyPattern}`, examples: ['50000.0000'] });

/** Like `moneyString`, but allows zero. */
export const moneyStringOrZero = () =>
  z
    .string('must be a decimal string')
    .refine((value) => !value.startsWith('-') && isMoney(value), {
      error: 'must be a decimal string with at most four decimals',
      abort: true,
    })
    .refine((value) => !hasThreeDecimals(value), threeDecimals)
    .meta({ pattern: `^${moneyPattern}`, examples: ['0.0000'] });

/** Money as a decimal string, positive or negative but not zero, at most four decimals. */
export const nonZeroMoneyString = () =>
  z
    .string('must be a decimal string')
    .refine((value) => /^-?(0|[1-9]\d{0,15})(\.\d+)?$/.test(value), { error: 'must be a decimal string', abort: true })
    .refine((value) => isMoney(value), { error: 'must have at most four decimals', abort: true })
    .refine((value) => !hasThreeDecimals(value), { error: threeDecimals, abort: true })
    .refine((value) => /[1-9]/.test(value), 'must not be zero')
    .meta({ pattern: `^-?${moneyPattern}`, examples: ['-50000.0000'] });

const whole = /^\d{1,15}$/;

/** No list has this many pages; later pages are clamped to this one, and are also empty. */
const lastPage = 999_999_999_999;

/** `page` in the query: a whole number from 1, however large. */
export const page = () =>
  z
    .string()
    .refine((value) => /^0*[1-9]\d*$/.test(value), 'must be a whole number from 1')
    .transform((value) => Math.min(Number(value), lastPage))
    .default(1)
    .meta({
      override: { type: 'integer', minimum: 1, default: 1 },
      description: 'The page, from 1. A page past the last is empty.',
    });

/** `limit` in the query: a page size of 1 to 100. */
export const limit = (standard = 10) =>
  z
    .string()
    .refine((value) => whole.test(value) && Number(value) >= 1, { error: 'must be a whole number from 1', abort: true })
    .refine((value) => Number(value) <= 100, 'must be at most 100')
    .transform(Number)
    .default(standard)
    .meta({
      override: { type: 'integer', minimum: 1, maximum: 100, default: standard },
      description: 'Rows per page, at most 100.',
    });

/** A query parameter that is `true` or `false`. */
const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    // The words `true` and `false` in the query; a boolean in the document.
    .meta({ override: { type: 'boolean', enum: [true, false] }, description });

/** `discover=true`: everything public, whichever organization owns it. */
export const discoverFlag = () =>
  flag('Everything public, of the platform and every organization, without private fields.');

/** `bom=true`: CSV that spreadsheets read as UTF-8. */
export const bomFlag = () => flag('Begins CSV with a byte order mark, so that spreadsheets recognize UTF-8.');

/** `asc` or `desc` by `created_at`. */
export const order = () =>
  z.enum(['asc', 'desc']).default('desc').meta({ description: 'By `created_at`: `desc` puts the newest first.' });

/** A calendar day `YYYY-MM-DD`; the year 0000 is refused, as PostgreSQL has none. */
export const isoDate = () =>
  // Aborts, so that an invalid date gets one error.
  z.iso
    .date({ error: 'must be a date (YYYY-MM-DD)', abort: true })
    .refine((value) => value >= '0001-01-01', 'must be a date (YYYY-MM-DD)');

const day = /^\d{4}-\d{2}-\d{2}$/;
const dayMs = 24 * 60 * 60 * 1000;
// Bounds are clamped to these: outside them no row is dated, and a Date has no text form that the database reads. Some
// queries extend their period by a day.
const earliestMs = Date.parse('0001-01-02T00:00:00.000Z');
const latestMs = Date.parse('9999-12-30T23:59:59.999Z');

const periodBound = (instantOf: (value: string) => number, description: string) =>
  z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time')
    .transform((value, ctx) => {
      const instant = instantOf(value);
      if (Number.isFinite(instant)) return new Date(Math.min(Math.max(instant, earliestMs), latestMs));
      ctx.addIssue({ code: 'custom', message: 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time' });
      return z.NEVER;
    })
    .meta({ override: { type: 'string', examples: ['2026-01-15'] }, description });

const startOf = (value: string): number =>
  day.test(value) ? startOfWesternIndonesiaDay(value).getTime() : Date.parse(value);

/** `from` of a period: its first instant. A bare date begins at midnight in UTC+7. */
export const periodStart = () =>
  periodBound(startOf, 'Inclusive. A date-time, or a bare date: the whole day in UTC+7.');

/** `to` of a period, inclusive in the request: the first instant after it. */
export const periodEnd = () =>
  periodBound(
    (value) => startOf(value) + (day.test(value) ? dayMs : 1),
    'Inclusive. A date-time, or a bare date: the whole day in UTC+7.',
  );

/** A timestamp in responses: ISO 8601 UTC with milliseconds. */
export const timestamp = () => z.iso.datetime().meta({ examples: ['2026-01-31T08:00:00.000Z'] });

/** An amount in responses: a decimal string with four decimals. */
export const amount = () => z.string().meta({ pattern: '^-?\\d+\\.\\d{4}$', examples: ['50000.0000'] });
