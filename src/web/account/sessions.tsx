import { call } from '../../http/call/call.ts'
import { endSessionById, endSessions, listOwnSessions } from '../../identity/sign-in/endpoints.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Time } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { browserName } from './browser-name.ts'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/active_sessions'

export const sessionsPage = page({
  address: ADDRESS,
  summary: 'Where I am signed in',
  signedIn: true,
  api: () => '/user/sessions',
  async read(ctx) {
    const { items } = await call(listOwnSessions, ctx, { path: {}, query: { per_page: 100 } })
    return { sessions: items }
  },
  title: () => 'Active sessions · Gitstead',
  view: ({ sessions }) => (
    <AccountFrame current="Active sessions">
      <p>The browsers in which you are signed in.</p>
      <ul class="list">
        {sessions.map(({ id, ip, user_agent, created_at, expires_at, current }) => (
          <li key={id}>
            <div class="main">
              <strong>{browserName(user_agent)}</strong> {current && <em>this browser</em>}
              <p class="facts">
                from {ip ?? 'an unknown address'} · signed in <Time at={created_at} /> · ends{' '}
                <Time at={expires_at} />
              </p>
            </div>
            {!current && (
              <ButtonForm action={`${ADDRESS}/${id}/revoke`} label="Sign out" kind="danger" />
            )}
          </li>
        ))}
      </ul>
      {sessions.length > 1 && (
        <ButtonForm
          action={`${ADDRESS}/revoke_others`}
          label="Sign all others out"
          kind="danger"
          confirm="Sign out everywhere but here?"
        />
      )}
    </AccountFrame>
  ),
})

export const revokeSessionForm = form({
  address: '/-/user_settings/active_sessions/:session_id/revoke',
  summary: 'Sign the caller out of another browser',
  endpoint: endSessionById,
  input: ({ path }) => ({ path }),
  goTo: () => ADDRESS,
  flash: 'That browser is signed out.',
})

export const revokeOthersForm = form({
  address: '/-/user_settings/active_sessions/revoke_others',
  summary: 'Sign the caller out of every other browser',
  endpoint: endSessions,
  input: () => ({ path: {} }),
  goTo: () => ADDRESS,
  flash: 'All other browsers are signed out.',
})
