import type { OfferedApp } from '../../../identity/two-factor/turn-on.ts'
import { State } from '../../parts/basics.tsx'
import { Field, Form } from '../../parts/form.tsx'
import { OwnPassword } from '../../parts/own-password.tsx'
import { QrCode } from '../../parts/qr-code.tsx'

const BASE = '/-/user_settings/two_factor'

interface AppProps {
  readonly isOn: boolean
  readonly waiting: OfferedApp | undefined
  readonly hasPassword: boolean
}

/** An app that makes codes: whether it is on, or how it is set up. */
export function AppSection({ isOn, waiting, hasPassword }: AppProps) {
  return (
    <section class="box">
      <h2 class="box-head">Authenticator app</h2>
      {isOn ? (
        <p class="box-body">
          <State kind="open" icon="check">
            on
          </State>{' '}
          Signing in asks for a code of your app.
        </p>
      ) : waiting ? (
        <ConfirmApp app={waiting} />
      ) : (
        <Form action={`${BASE}/app`} class="form box-body">
          <p>An app on your telephone makes a code for each half minute.</p>
          <OwnPassword name="app_password" isSet={hasPassword} />
          <button type="submit" class="button primary">
            Set an app up
          </button>
        </Form>
      )}
    </section>
  )
}

function ConfirmApp({ app }: { app: OfferedApp }) {
  return (
    <Form action={`${BASE}/app/confirm`} class="form box-body">
      <p>Let the app read this picture, or type the secret into it.</p>
      <QrCode text={app.uri} label="The secret as a QR code" />
      <p>
        <code class="breakable">{app.secret.match(/.{1,4}/g)?.join(' ')}</code>
      </p>
      <Field
        name="code"
        label="Code that the app shows"
        input={{ autocomplete: 'one-time-code', inputmode: 'numeric', required: true }}
      />
      <button type="submit" class="button primary">
        Turn the app on
      </button>
    </Form>
  )
}

/** How many recovery codes are left, and new ones. */
export function RecoverySection({ left, hasPassword }: { left: number; hasPassword: boolean }) {
  return (
    <section class="box">
      <h2 class="box-head">Recovery codes</h2>
      <Form action={`${BASE}/recovery_codes`} class="form box-body">
        <p>
          {left === 1 ? 'One recovery code is left.' : `${left} recovery codes are left.`} New ones
          take the place of all before.
        </p>
        <OwnPassword name="codes_password" isSet={hasPassword} />
        <CodeField of="codes" />
        <button type="submit" class="button">
          Make new recovery codes
        </button>
      </Form>
    </section>
  )
}

export function TurnOffSection({ hasPassword }: { hasPassword: boolean }) {
  return (
    <section class="box">
      <h2 class="box-head">Turn it off</h2>
      <Form
        action={`${BASE}/disable`}
        class="form box-body"
        data-confirm="Turn the second factor off? Your password alone signs in then."
      >
        <p>Takes the app, all keys and the recovery codes away.</p>
        <OwnPassword name="off_password" isSet={hasPassword} />
        <CodeField of="off" />
        <button type="submit" class="button danger">
          Turn the second factor off
        </button>
      </Form>
    </section>
  )
}

// Of each form of its own: a page has each name once, and what was wrong is said above.

function CodeField({ of }: { of: string }) {
  return (
    <Field
      name={`${of}_code`}
      label="Code of the app, or a recovery code"
      input={{ autocomplete: 'one-time-code', required: true }}
    />
  )
}
