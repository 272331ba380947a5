import { type ErrorMessage, errorMessages } from './errors.ts';

const rows = errorMessages();
const placesWhere = (isWrong: (row: ErrorMessage) => boolean) =>
  rows.filter(isWrong).map(({ place, message }) => `${place}: ${message}`);

/** `node test/house/errors.ts` prints all messages for review. */
it('Error messages have one form: a capital letter, or the field first; no full stop; no name of a component', () => {
  expect(rows.length).toBeGreaterThan(300);
  const started = (message: string) => /^\p{L}/u.test(message);
  expect(placesWhere(({ field, message }) => field === '' && started(message) && !/^\p{Lu}/u.test(message))).toEqual(
    [],
  );
  expect(
    placesWhere(({ field, message }) => field !== '' && started(message) && !/^(\p{Ll}|IDR|API)/u.test(message)),
  ).toEqual([]);
  expect(placesWhere(({ message }) => message.endsWith('.'))).toEqual([]);
  expect(placesWhere(({ message }) => /Temporal\b|Postgre|\bS3\b|\bKoa\b|MikroORM|Xendit/.test(message))).toEqual([]);
});

it('Error messages call a missing resource “not found”', () => {
  expect(placesWhere(({ message }) => /^no \w+ …|no such|does not exist|cannot be found/i.test(message))).toEqual([]);
});
