import { Field } from './form.tsx'

/** The present password, of whoever has one here; others sign in again instead. */
export function OwnPassword({ name, isSet, label = 'Password' }: OwnPasswordProps) {
  if (!isSet) {
    return (
      <p class="hint">You sign in elsewhere, which must have been within a quarter of an hour.</p>
    )
  }
  return (
    <Field
      name={name}
      label={label}
      input={{ type: 'password', autocomplete: 'current-password', required: true }}
    />
  )
}

interface OwnPasswordProps {
  readonly name: string
  readonly isSet: boolean
  readonly label?: string
}
