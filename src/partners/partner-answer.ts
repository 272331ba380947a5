import { z } from 'zod';

/** The envelope of every success under `/v1/partners`, which `createPartnerDoor` wraps around the handler's result. */
export const partnerAnswer = <T extends z.ZodType>(data: T) => z.object({ data, request_id: z.string() });
