import type { PageCtx } from '../page-ctx.ts'

/** One entry of the palette: an address that this person may open. */
export interface Destination {
  readonly label: string
  readonly href: string
  readonly icon: string
}

/** What stands at the top of every page, and what the palette knows beside it. */
export interface Navigation {
  readonly destinations: readonly Destination[]
}

interface TopPlace {
  readonly label: string
  readonly href: string
  readonly icon: string
  readonly who: 'anybody' | 'user' | 'admin'
}

const accountPlaces = (
  [
    ['My profile', 'profile', 'person'],
    ['My e-mail addresses', 'emails', 'mail'],
    ['My password', 'password', 'lock'],
    ['My second factor', 'two_factor', 'shield-lock'],
    ['My SSH keys', 'ssh_keys', 'key'],
    ['My GPG keys', 'gpg_keys', 'verified'],
    ['My access tokens', 'personal_access_tokens', 'key'],
    ['My sessions', 'active_sessions', 'globe'],
    ['My notifications', 'notifications', 'bell'],
  ] as const
).map(([label, at, icon]) => ({
  label,
  href: `/-/user_settings/${at}`,
  icon,
  who: 'user' as const,
}))

/** Pages that belong to no project or group. The pages of a project are in its own navigation. */
const places: readonly TopPlace[] = [
  { label: 'Home', href: '/', icon: 'home', who: 'anybody' },
  { label: 'My to-dos', href: '/dashboard/todos', icon: 'tasklist', who: 'user' },
  {
    label: 'My merge requests',
    href: '/dashboard/merge_requests',
    icon: 'git-pull-request',
    who: 'user',
  },
  { label: 'My issues', href: '/dashboard/issues', icon: 'issue-opened', who: 'user' },
  { label: 'My projects', href: '/dashboard/projects', icon: 'repo', who: 'user' },
  { label: 'Explore projects', href: '/explore', icon: 'globe', who: 'anybody' },
  { label: 'New project', href: '/projects/new', icon: 'plus', who: 'user' },
  { label: 'New group', href: '/groups/new', icon: 'organization', who: 'user' },
  ...accountPlaces,
  { label: 'Help', href: '/help', icon: 'question', who: 'anybody' },
]

export async function navigationOf(ctx: PageCtx): Promise<Navigation> {
  const isUser = ctx.actor.kind === 'user'
  const shown = places.filter(({ who }) => who === 'anybody' || (who === 'user' && isUser))
  return { destinations: shown }
}
