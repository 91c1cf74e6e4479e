import { disableTwoFactor } from '../../identity/two-factor/endpoints.ts'
import { useShown } from '../context.ts'
import { form } from '../form.ts'
import { State } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'

interface Person {
  readonly id: number
  readonly username: string
  /** Known to administrators alone. */
  readonly two_factor_enabled?: boolean | undefined
}

/** What administrators see of a person, and may do for them. */
export function AdministerPerson({ of }: { of: Person }) {
  const { viewer } = useShown()
  if (!viewer?.isAdmin || !of.two_factor_enabled) return null
  return (
    <p class="row">
      <State kind="plain" icon="shield-lock">
        has a second factor
      </State>
      <ButtonForm
        action={`/users/${of.id}/disable_two_factor`}
        label="Take the second factor off"
        kind="danger"
        confirm={`Let the password alone sign @${of.username} in?`}
      />
    </p>
  )
}

export const takeOffForm = form({
  address: '/users/:id/disable_two_factor',
  summary: 'Take the second factor of a user off, who has lost it',
  endpoint: disableTwoFactor,
  fresh: true,
  input: ({ path }) => ({ path }),
  flash: 'The password alone signs in now.',
})
