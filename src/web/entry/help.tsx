import { call } from '../../http/call/call.ts'
import { getSshHostKeys } from '../../instance/ssh-host-keys/endpoints.ts'
import { useShown } from '../context.ts'
import { page } from '../page.ts'
import { A } from '../parts/link.tsx'

/** What a person needs to point a program at this server. */
export const helpPage = page({
  address: '/help',
  summary: 'Help',
  read: (ctx) => call(getSshHostKeys, ctx, { path: {}, query: {} }),
  title: () => 'Help · Gitstead',
  view: (ssh) => <Help ssh={ssh} />,
})

interface Ssh {
  readonly enabled: boolean
  readonly host: string
  readonly port: number
  readonly host_keys: readonly { readonly type: string; readonly fingerprint_sha256: string }[]
}

function Help({ ssh }: { ssh: Ssh }) {
  const { externalUrl } = useShown()
  return (
    <div class="narrow stack markdown">
      <h1>Help</h1>
      <p>
        The API is at <code>{externalUrl}/api/v4</code>; its <A href="/-/docs">reference</A> needs
        no network. Every page shows at its foot which calls give the same data.
      </p>
      <h2>Git</h2>
      <p>
        Clone and push over HTTP with your user name, and your password or an{' '}
        <A href="/-/user_settings/personal_access_tokens">access token</A>.
      </p>
      {ssh.enabled && (
        <>
          <p>
            Or over SSH at <code>{ssh.host}</code>, port {ssh.port}, as the user <code>git</code>,
            with a key that you have added.
          </p>
          {ssh.host_keys.length > 0 && (
            <>
              <p>Your client asks once whether the server is known. It is, by these keys:</p>
              <ul>
                {ssh.host_keys.map(({ type, fingerprint_sha256 }) => (
                  <li>
                    {type}: <code>{fingerprint_sha256}</code>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
      <h2>Clients</h2>
      <p>
        Clients of the reference platform take <code>{externalUrl}</code> as the address of their
        server: python-gitlab, @gitbeaker/rest, glab, renovate, semantic-release, and runners of CI.
      </p>
      <h2>Keys</h2>
      <p>
        <kbd>?</kbd> lists the keys of a page, <kbd>Ctrl K</kbd> jumps anywhere.
      </p>
    </div>
  )
}
