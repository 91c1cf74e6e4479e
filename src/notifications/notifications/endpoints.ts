import { anyone } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { unsubscribeUser } from '../../discussions/subscriptions/subscribe.ts'
import { type Bytes, bytes, endpoint } from '../../http/endpoint.ts'
import { html, page } from '../../http/page.ts'
import { text } from '../../http/params.ts'
import { findSent } from './queries.ts'

const path = '/-/sent_notifications/:key/unsubscribe'
const common = {
  path,
  host: true,
  ownSignIn: true,
  access: anyone(),
  params: { key: text({ max: 255 }) },
  status: 200,
  response: bytes('text/html'),
} as const

function unknownLink(): Bytes {
  return page({
    title: 'That did not work',
    status: 404,
    body: html`<p role="alert">This link is unknown, or too old.</p>`,
  })
}

/** Programs that look at links in mails must change nothing: the page asks first. */
export const showUnsubscribe = endpoint({
  ...common,
  method: 'GET',
  summary: 'The page to which the unsubscribe link of a mail leads',
  async handler({ ctx, params }) {
    if (!(await findSent(ctx.db, digestOf(params.key)))) return unknownLink()
    return page({
      title: 'Unsubscribe',
      body: html`<p>No more mails about this issue or merge request?</p>
<form method="post"><button type="submit">Unsubscribe</button></form>`,
    })
  },
})

/** Also what mail programs call by their own button (RFC 8058). */
export const unsubscribeByLink = endpoint({
  ...common,
  method: 'POST',
  summary: 'End the mails about an issue or merge request with the secret of a mail',
  async handler({ ctx, params }) {
    const sent = await findSent(ctx.db, digestOf(params.key))
    if (!sent) return unknownLink()
    await unsubscribeUser(ctx, sent.subject_type, sent.subject_id, sent.user_id)
    return page({ title: 'Unsubscribed', body: html`<p>There will be no more of these mails.</p>` })
  },
})
