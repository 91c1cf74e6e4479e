import { Time } from '../../parts/basics.tsx'
import { Field, Form } from '../../parts/form.tsx'
import { KeyForm } from '../../parts/key-form.tsx'
import { OwnPassword } from '../../parts/own-password.tsx'

const BASE = '/-/user_settings/two_factor/keys'

interface Key {
  readonly id: number
  readonly name: string
  readonly passkey: boolean
  readonly created_at: string
  readonly last_used_at: string | null
}

interface Props {
  readonly keys: readonly Key[]
  /** Undefined where browsers know no keys. */
  readonly newKey: object | undefined
  readonly hasPassword: boolean
}

/** Passkeys and security keys: those that there are, and another. */
export function KeysSection({ keys, newKey, hasPassword }: Props) {
  return (
    <section class="box">
      <h2 class="box-head">Passkeys and security keys</h2>
      <ul class="list box-body">
        {keys.map((key) => (
          <OneKey key={key.id} of={key} hasPassword={hasPassword} />
        ))}
      </ul>
      {newKey ? (
        <KeyForm action={BASE} ask="create" options={newKey} label="Add a key" primary>
          <p>
            A passkey of this device or telephone signs in without a password; a security key is
            asked for after it.
          </p>
          <Field name="name" label="Name" hint="Which key it is" input={{ required: true }} />
        </KeyForm>
      ) : (
        <p class="box-body">
          Browsers know keys only where the address of this server is a name that begins with https.
        </p>
      )}
    </section>
  )
}

function OneKey({ of, hasPassword }: { of: Key; hasPassword: boolean }) {
  return (
    <li>
      <div class="main">
        <strong>{of.name}</strong>
        <p class="facts">
          {of.passkey ? 'passkey' : 'security key'} · added <Time at={of.created_at} /> · last used{' '}
          {of.last_used_at ? <Time at={of.last_used_at} /> : 'never'}
        </p>
      </div>
      <details class="menu">
        <summary class="button danger">Remove</summary>
        <div class="menu-list">
          <Form action={`${BASE}/${of.id}/remove`} class="form">
            <OwnPassword name={`key_${of.id}_password`} isSet={hasPassword} />
            <button type="submit" class="button danger">
              Remove {of.name}
            </button>
          </Form>
        </div>
      </details>
    </li>
  )
}
