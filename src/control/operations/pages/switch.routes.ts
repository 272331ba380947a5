import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Markup } from '../../../platform/http/card-page.ts';
import { sentenceOf } from '../../../platform/http/errors.ts';
import { readForm } from '../../../platform/http/forms.ts';
import { errorStatuses, refuse } from '../../../shared/errors.ts';
import type { Console, Me } from './console.routes.ts';
import { complain, type SwitchShown } from './layout.ts';
import { instantOr, type Names, nameOf } from './spell.ts';

const title = 'Hold or release all payouts';

function switchPage(
  { enabled, reason, changed_at, changed_by }: SwitchShown,
  names: Names,
  mayChange: boolean,
  complaint: string | null,
): Markup {
  return html`${complain(complaint)}
<dl>
<dt>Transfers and refunds</dt><dd><strong>${enabled ? 'are sent' : 'are held'}</strong></dd>
<dt>Changed</dt><dd>${instantOr(changed_at, 'never')}${changed_by && `, by ${nameOf(names, changed_by)}`}</dd>
${reason && html`<dt>Why</dt><dd>${reason}</dd>`}
</dl>
<p>Holding stops everything not sent yet, including retries: partners’ payouts, withdrawals, disbursements and refunds.
New payouts reserve their money and wait. Transfers already sent continue.</p>
${
  mayChange
    ? html`<form method="post" action="/operations/switch">
<input type="hidden" name="enabled" value="${enabled ? 'false' : 'true'}">
<input type="hidden" name="changed_at" value="${changed_at ?? ''}">
<label for="reason">Why</label>
<input id="reason" name="reason" minlength="3" maxlength="300" required autocomplete="off" aria-describedby="about-reason">
<p class="quiet" id="about-reason">References, never personal data.</p>
<div class="steps"><button>${enabled ? 'Hold all payouts' : 'Release all payouts'}</button></div>
</form>`
    : html`<p class="quiet">Only a super admin can change this.</p>`
}`;
}

/** Serves the page of the switch, and its form. */
export function switchPages(router: Router, { call, readMe, readNames, show, goTo, orShowWhy }: Console): void {
  async function showSwitch(ctx: Context, me: Me, complaint: string | null, status = 200): Promise<void> {
    const stands = await call<SwitchShown>(ctx, 'get', '/v1/operations/payouts');
    const mayChange = me.role?.name === 'platform_super_admin';
    await show(
      ctx,
      title,
      switchPage(stands, await readNames(ctx, [stands.changed_by]), mayChange, complaint),
      me,
      status,
    );
  }
  router.get('/switch', async (ctx) => showSwitch(ctx, await readMe(ctx), null));
  router.post('/switch', async (ctx) => {
    const me = await readMe(ctx);
    const { enabled, reason, changed_at } = await readForm(ctx);
    await orShowWhy(
      ctx,
      async () => {
        const body = { enabled: enabled === 'true', reason };
        const stands = await call<SwitchShown>(ctx, 'get', '/v1/operations/payouts');
        const isDone = stands.enabled === body.enabled && stands.reason === reason;
        // An old page must not release what somebody else has held since.
        if (changed_at !== (stands.changed_at ?? '') && !isDone) {
          refuse('REQUEST_INVALID', 'The switch was changed meanwhile: this is its state now');
        }
        await call(ctx, 'put', '/v1/operations/payouts', { body });
        goTo(ctx, '/operations/switch');
      },
      (error) => showSwitch(ctx, me, sentenceOf(error), errorStatuses[error.code]),
    );
  });
}
