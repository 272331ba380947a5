import type { Locale, MailTexts } from './mail.ts';
import { english } from './texts-en.ts';
import { indonesian } from './texts-id.ts';

/** The text of every mail, in every language. */
export const mailTexts: Record<Locale, MailTexts> = { id: indonesian, en: english };
