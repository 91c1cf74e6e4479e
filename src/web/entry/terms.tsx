import { enforcedTerms } from '../../access/authentication/terms.ts'
import { text } from '../../http/params.ts'
import { safeReturn } from '../../identity/sign-in/return-path.ts'
import { acceptTerms } from '../../identity/terms/accept-terms.ts'
import { renderMarkdown } from '../../markdown/render.ts'
import { actForm, returnOf } from '../form.ts'
import { page } from '../page.ts'
import { ButtonForm } from '../parts/form.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { TERMS_ADDRESS } from '../terms.ts'

/** What people agree to before they go on. */
export const termsPage = page({
  address: TERMS_ADDRESS,
  summary: 'Terms of service',
  query: { return_to: text().optional() },
  signedIn: true,
  beforeTerms: true,
  async read(ctx, { query }) {
    const terms = enforcedTerms(ctx.settings)
    return {
      html: terms && (await renderMarkdown(ctx, terms.text, null)),
      returnTo: safeReturn(query.return_to) ?? '/',
    }
  },
  title: () => 'Terms of service · Gitstead',
  view: ({ html, returnTo }) => (
    <div class="narrow stack">
      <h1>Terms of service</h1>
      {html === undefined ? (
        <p>There are none to accept.</p>
      ) : (
        <>
          <Markdown html={html} />
          <div class="row">
            <ButtonForm
              action={TERMS_ADDRESS}
              label="Accept terms"
              kind="primary"
              returnTo={returnTo}
            />
            <ButtonForm action="/users/sign_out" label="Decline and sign out" />
          </div>
        </>
      )}
    </div>
  ),
})

export const termsForm = actForm({
  address: TERMS_ADDRESS,
  summary: 'Accept the terms of service',
  beforeTerms: true,
  async act(sent) {
    await acceptTerms(sent.ctx)
    return returnOf(sent)
  },
})
