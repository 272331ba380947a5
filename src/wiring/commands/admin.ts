import { randomBytes } from 'node:crypto';
import {
  createPlatformUser,
  getUserByEmail,
  removeSecondFactor,
  setPassword,
} from '../../people/identity/operate-users.ts';
import { setUserStatus } from '../../people/identity/set-user-status.ts';
import { openProfile } from '../../people/members/profile.ts';
import type { User } from '../../people/members/user.entity.ts';
import { updateOrganization } from '../../people/organizations/update-organization.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { operator } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { organizationLaw } from '../../shared/organization.ts';
import { type CommandResult, runSubcommands, type Subcommand } from './run-subcommands.ts';

const person = {
  email: 'E-mail address, the login',
  name: 'Name of the person',
  password: 'At least 12 characters; generated and printed when absent',
};
const address = { email: 'E-mail address of the user' };

/** Generates a password of 120 bits. */
const makePassword = (): string => randomBytes(15).toString('base64url');

async function describeUser(sealer: Sealer, user: User, did: string, madePassword?: string): Promise<CommandResult> {
  const { id, status, user_type } = user;
  const { email } = await openProfile(sealer, user);
  const password = madePassword === undefined ? {} : { password: madePassword };
  return {
    json: { user_id: id, email, user_type, status, ...password },
    text: `${did} ${email} (${id}).${madePassword === undefined ? '' : ` Password, shown once: ${madePassword}`}`,
  };
}

const createPlatform = (role: 'platform_super_admin' | 'platform_admin', title: string): Subcommand => ({
  summary: `Create a ${title}`,
  options: person,
  required: ['email', 'name'],
  async run({ orm, openPeople }, { email = '', name = '', password }) {
    const sealer = openPeople();
    const made = password === undefined ? makePassword() : undefined;
    const user = await createPlatformUser(orm.em.fork(), sealer, {
      email,
      name,
      role,
      password: password ?? made ?? '',
    });
    return describeUser(sealer, user, `Created the ${title}`, made);
  },
});

const changeStatus = (status: 'active' | 'suspended', did: string, summary: string): Subcommand => ({
  summary,
  options: address,
  required: ['email'],
  async run({ orm, openPeople }, { email = '' }) {
    const sealer = openPeople();
    const { id: userId } = await getUserByEmail(orm.em.fork(), sealer, email);
    const user = await setUserStatus(orm.em.fork(), { caller: operator, requestId: null, userId, status });
    return describeUser(sealer, user, did);
  },
});

/** The operators' commands: set-up before the API can be used, and actions reserved for operators. */
const commands: Record<string, Subcommand> = {
  'create-super-admin': createPlatform('platform_super_admin', 'platform super admin'),
  'create-platform-admin': createPlatform('platform_admin', 'platform admin'),
  'set-password': {
    summary: 'Give a user a new password',
    options: { ...address, password: person.password },
    required: ['email'],
    async run({ orm, openPeople }, { email = '', password }) {
      const sealer = openPeople();
      const made = password === undefined ? makePassword() : undefined;
      const user = await setPassword(orm.em.fork(), sealer, { email, password: password ?? made ?? '' });
      return describeUser(sealer, user, 'Changed the password of', made);
    },
  },
  'remove-second-factor': {
    summary: 'Remove the second factor of a user who has lost it and its recovery codes',
    options: address,
    required: ['email'],
    async run({ orm, openPeople }, { email = '' }) {
      const sealer = openPeople();
      const user = await removeSecondFactor(orm.em.fork(), sealer, email);
      return describeUser(sealer, user, 'Removed the second factor of');
    },
  },
  'suspend-user': changeStatus('suspended', 'Suspended', 'Suspend a user; their tokens stop working at once'),
  'activate-user': changeStatus('active', 'Activated', 'Reactivate a suspended user'),
  'set-organization-status': {
    summary: 'Set the status of an organization',
    options: { organization: 'Id of the organization', status: organizationLaw.statuses.join(', ') },
    required: ['organization', 'status'],
    async run({ orm }, { organization: organizationId = '', status: asked }) {
      const status = organizationLaw.statuses.find((each) => each === asked);
      if (!status)
        refuse('REQUEST_INVALID', `must be one of ${organizationLaw.statuses.join(', ')}`, { field: 'status' });
      if (!/^[0-9a-f-]{36}$/i.test(organizationId))
        refuse('REQUEST_INVALID', 'must be a UUID', { field: 'organization' });
      const changes = { status };
      const input = { caller: operator, requestId: null, organizationId, changes };
      const { id, name } = await updateOrganization(orm.em.fork(), input);
      return { json: { organization_id: id, status }, text: `${name} (${id}) is ${status} now.` };
    },
  },
  'permission-matrix': {
    summary: 'Print who may use which route',
    options: {},
    async run() {
      // Imported here because only this command needs the whole application.
      const [{ routeGroups }, { describeAccess }] = await Promise.all([
        import('../app.ts'),
        import('../../platform/http/openapi.ts'),
      ]);
      const routes = routeGroups.flatMap((group) => group.routes);
      const json = routes.map(({ method, path, access }) => ({ method: method.toUpperCase(), path, access }));
      const lines = json.map(
        ({ method, path, access }) => `${method.padEnd(7)}${path.padEnd(52)}${describeAccess(access)}`,
      );
      return { json: { routes: json }, text: lines.join('\n') };
    },
  },
};

if (import.meta.main) process.exit(await runSubcommands('npm run admin --', commands, process.argv.slice(2)));
