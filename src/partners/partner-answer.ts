import { z } from 'zod';

/** The envelope of every success under `/v1/partners`; the partner door wraps it around what the handler returns. */
export const partnerAnswer = <T extends z.ZodType>(data: T) => z.object({ data, request_id: z.string() });
