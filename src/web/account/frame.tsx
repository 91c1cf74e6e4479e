import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'

const BASE = '/-/user_settings'

/** The pages of one's own account, in the order in which they are listed. */
const entries = [
  { at: `${BASE}/profile`, label: 'Profile', icon: 'person' },
  { at: `${BASE}/emails`, label: 'E-mail addresses', icon: 'mail' },
  { at: `${BASE}/password`, label: 'Password', icon: 'lock' },
  { at: `${BASE}/identities`, label: 'Sign-in providers', icon: 'person' },
  { at: `${BASE}/two_factor`, label: 'Second factor', icon: 'shield-lock' },
  { at: `${BASE}/ssh_keys`, label: 'SSH keys', icon: 'key' },
  { at: `${BASE}/gpg_keys`, label: 'GPG keys', icon: 'verified' },
  { at: `${BASE}/personal_access_tokens`, label: 'Access tokens', icon: 'key' },
  { at: `${BASE}/active_sessions`, label: 'Active sessions', icon: 'globe' },
  { at: `${BASE}/notifications`, label: 'Notifications', icon: 'bell' },
] as const satisfies readonly { at: string; label: string; icon: IconName }[]

export type AccountPage = (typeof entries)[number]['label']

/** A page of one's own account beside the list of these pages. */
export function AccountFrame({
  current,
  children,
}: {
  current: AccountPage
  children: ComponentChildren
}) {
  return (
    <div class="narrow beside">
      <nav class="side-nav" aria-label="My account">
        {entries.map(({ at, label, icon }) => (
          <A key={at} href={at} aria-current={label === current ? 'page' : undefined}>
            <Icon name={icon} /> {label}
          </A>
        ))}
      </nav>
      <div class="stack">
        <h1>{current}</h1>
        {children}
      </div>
    </div>
  )
}
