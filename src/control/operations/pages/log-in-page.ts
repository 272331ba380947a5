import { html } from 'hono/html';
import { complain, type Markup } from './layout.ts';

/** The login form. */
export const logInPage = (email: string, complaint: string | null): Markup => html`${complain(complaint)}
<form method="post" action="/operations/log-in">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" value="${email}" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<label for="totp_code">Code of the authenticator app</label>
<input id="totp_code" name="totp_code" inputmode="numeric" autocomplete="one-time-code">
<p class="quiet">If you have a second factor; without one you can propose, but not approve.</p>
<div class="steps"><button>Log in</button></div>
</form>`;
