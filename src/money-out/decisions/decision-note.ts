import { prose } from '../../platform/http/fields.ts';
import { longestNote } from '../../shared/note.ts';
import { shortestNote } from './decision.ts';

/** The note of a decision, as requests carry it. */
export const noteOfDecision = () =>
  prose(longestNote, shortestNote).describe('References to the evidence, never personal data.');
