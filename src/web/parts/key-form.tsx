import type { ComponentChildren } from 'preact'
import { Form } from './form.tsx'

interface KeyFormProps {
  readonly action: string
  readonly returnTo?: string
  /** Whether the browser makes a key or asks for one. */
  readonly ask: 'create' | 'get'
  /** What the browser is given for that. */
  readonly options: object
  readonly label: string
  readonly primary?: boolean
  /** The field that carries the answer. */
  readonly field?: string
  readonly children?: ComponentChildren
}

/** A form that asks for a passkey or security key before it is sent, which takes script (`browser/keys.ts`). */
export function KeyForm(props: KeyFormProps) {
  const { action, returnTo, ask, options, label, primary, field = 'key', children } = props
  return (
    <Form
      action={action}
      class="form box-body"
      {...(returnTo === undefined ? {} : { returnTo })}
      data-key={ask}
      data-key-field={field}
      data-options={JSON.stringify(options)}
    >
      <input type="hidden" name={field} value="" />
      {children}
      <p class="fault" role="alert" hidden />
      <button type="submit" class={primary ? 'button primary' : 'button'}>
        {label}
      </button>
    </Form>
  )
}
