import { A } from '../parts/link.tsx'

const words: Readonly<Record<number, readonly [string, string]>> = {
  400: [
    'This request cannot be read',
    'Something in the address or the form is not as it should be.',
  ],
  403: [
    'You may not do this',
    'You may see this, but your role does not allow it. Whoever owns it can change that.',
  ],
  404: ['There is nothing here', 'There is nothing at this address, or you may not see it.'],
  409: [
    'Somebody was faster',
    'What you wanted to change has changed meanwhile. Go back, reload and try again.',
  ],
  410: ['This is gone', 'What was at this address is there no more.'],
  413: ['This is too large', 'What you sent is larger than this server takes.'],
  422: ['This form was too old', 'Go back, reload the page and send it again.'],
  429: [
    'Too many requests',
    'You asked for more than this server gives one person at a time. Wait a minute and reload.',
  ],
  500: [
    'This went wrong',
    'That is the fault of this server. Its log says more under the number below.',
  ],
  503: [
    'The server is busy',
    'It is starting, or has more to do than it can. Try again in a moment.',
  ],
  507: ['The disk is full', 'Nothing can be written until an administrator makes room.'],
}

/** What a person reads where a page cannot be shown. */
export function ProblemView({
  status,
  requestId,
  reason,
}: {
  status: number
  requestId: string
  reason?: string | undefined
}) {
  const [title, text] = words[status] ?? words[status >= 500 ? 500 : 400] ?? ['', '']
  return (
    <div class="blank problem">
      <p class="number">{status}</p>
      <h1>{title}</h1>
      <p>{text}</p>
      {reason !== undefined && reason !== '' && <p>{reason}</p>}
      {status >= 500 && (
        <p>
          Request <code>{requestId}</code>
        </p>
      )}
      <p>
        <A href="/" class="button">
          Go to the start
        </A>
      </p>
    </div>
  )
}
