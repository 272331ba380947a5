import { hash, verify } from '@node-rs/argon2';

// argon2id with the parameters that OWASP names: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

let stranger: Promise<string> | undefined;

/** The argon2id hash of a password, parameters and salt included. */
export const hashPassword = (password: string): Promise<string> => hash(password, parameters);

/** Whether the password is the one behind the hash; without a hash the same work is done for nothing. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  stranger ??= hash('nobody has this password', parameters);
  const matches = await verify(passwordHash ?? (await stranger), password);
  return passwordHash !== null && matches;
}
