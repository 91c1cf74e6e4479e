import { Problem } from '../../base/problem.ts'
import { perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import {
  decideDevice,
  findWaitingDevice,
  readUserCode,
  type WaitingDevice,
} from '../../identity/oauth/decide-device.ts'
import { scopesOf } from '../../identity/oauth/scopes.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { actForm } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { Decision, ScopeList } from './consent.tsx'

const ADDRESS = '/oauth/device'
/** Codes are short: whoever tries them out is slowed down. */
const TRIES = perMinute('oauth_device_code', 10)

export const devicePage = page({
  address: ADDRESS,
  summary: 'Connect a device by the code that it shows',
  query: { user_code: text({ max: 100 }).default('') },
  signedIn: true,
  read: async (_ctx, { query }) => ({ code: readUserCode(query.user_code) }),
  title: () => 'Connect a device · Gitstead',
  view: ({ code }) => (
    <div class="sign">
      <h1>Connect a device</h1>
      <RefusalNote />
      <Form action={ADDRESS} returnTo="/" class="form">
        <Field
          name="user_code"
          label="Enter the code that your device shows"
          value={code}
          input={{
            autocomplete: 'off',
            autocapitalize: 'characters',
            required: true,
            autofocus: true,
          }}
        />
        <button type="submit" class="button primary">
          Continue
        </button>
      </Form>
    </div>
  ),
})

export const deviceForm = actForm({
  address: ADDRESS,
  summary: 'Let a device use the account, or not',
  page: devicePage,
  async act({ ctx, fields }) {
    ctx.request.countAgainst(TRIES, callerId(ctx))
    const found = await findWaitingDevice(ctx, readUserCode(String(fields.user_code ?? '')))
    if (!found) {
      const message = 'No device waits under this code.'
      throw new Problem('unprocessable', 422, { message })
    }
    if (fields.decision === undefined) {
      const title = `Connect ${found.application.name}?`
      return await answerNotice(ctx, title, <Question of={found} />)
    }
    const isAllowed = fields.decision === 'allow'
    await decideDevice(ctx, found, isAllowed)
    const title = isAllowed ? 'The device is connected' : 'The device was refused'
    return await answerNotice(ctx, title, <p>You can close this page.</p>)
  },
})

function Question({ of: { device } }: { of: WaitingDevice }) {
  return (
    <>
      <p>
        A device with the code <code>{device.user_code}</code> wants to use your account. Go on only
        if you have the device before you. It may then:
      </p>
      <ScopeList scopes={scopesOf(device)} />
      <Form action={ADDRESS} returnTo="/">
        <input type="hidden" name="user_code" value={device.user_code} />
        <Decision />
      </Form>
    </>
  )
}
