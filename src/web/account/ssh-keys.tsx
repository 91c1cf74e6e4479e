import { call } from '../../http/call/call.ts'
import { addOwnSshKey, listOwnSshKeys, removeOwnSshKey } from '../../identity/keys/endpoints.ts'
import { parseSshKey } from '../../identity/keys/parse-ssh-key.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Blank, Time } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/ssh_keys'

const usages = {
  auth_and_signing: 'Signing in and signatures',
  auth: 'Signing in',
  signing: 'Signatures',
} as const

export const sshKeysPage = page({
  address: ADDRESS,
  summary: 'My SSH keys',
  signedIn: true,
  api: () => '/user/keys',
  async read(ctx) {
    const { items } = await call(listOwnSshKeys, ctx, { path: {}, query: { per_page: 100 } })
    const keys = items.map((key) => {
      const read = parseSshKey(key.key)
      return { ...key, kind: read?.type, fingerprint: read?.fingerprintSha256 }
    })
    return { keys }
  },
  title: () => 'SSH keys · Gitstead',
  view: ({ keys }) => (
    <AccountFrame current="SSH keys">
      <p>With an SSH key, git signs in without a password, and signatures of commits are yours.</p>
      <RefusalNote />
      {keys.length === 0 && <Blank icon="key" title="You have no SSH keys" />}
      <ul class="list">
        {keys.map((key) => (
          <li key={key.id}>
            <div class="main">
              <strong>{key.title}</strong>
              <p class="mono breakable">{key.fingerprint}</p>
              <p class="facts">
                {key.kind} · {usages[key.usage_type]} · added <Time at={key.created_at} /> · last
                used {key.last_used_at ? <Time at={key.last_used_at} /> : 'never'} · expires{' '}
                {key.expires_at?.slice(0, 10) ?? 'never'}
              </p>
            </div>
            <ButtonForm
              action={`${ADDRESS}/${key.id}/remove`}
              label="Remove"
              kind="danger"
              confirm={`Remove the key ${key.title}? Whoever uses it can no longer sign in.`}
            />
          </li>
        ))}
      </ul>
      <section class="box">
        <h2 class="box-head">Add a key</h2>
        <Form action={ADDRESS} class="form box-body">
          <Field
            name="key"
            label="Public key"
            hint="The one line of ~/.ssh/id_ed25519.pub"
            area={{ rows: 4 }}
            input={{ required: true, spellcheck: false, class: 'mono' }}
          />
          <Field name="title" label="Name" input={{ required: true }} />
          <Field
            name="usage_type"
            label="Used for"
            options={Object.entries(usages).map(([value, label]) => ({ value, label }))}
          />
          <Field name="expires_at" label="Last day" input={{ type: 'date' }} />
          <button type="submit" class="button primary">
            Add the key
          </button>
        </Form>
      </section>
    </AccountFrame>
  ),
})

export const addSshKeyForm = form({
  address: ADDRESS,
  summary: 'Add an SSH key of the caller',
  fresh: true,
  endpoint: addOwnSshKey,
  page: sshKeysPage,
  input: ({ fields: { title, key, usage_type, expires_at } }) => ({
    path: {},
    body: { title, key, usage_type, expires_at },
  }),
  goTo: () => ADDRESS,
  flash: 'The key was added.',
})

export const removeSshKeyForm = form({
  address: '/-/user_settings/ssh_keys/:key_id/remove',
  summary: 'Remove an SSH key of the caller',
  endpoint: removeOwnSshKey,
  input: ({ path }) => ({ path }),
  goTo: () => ADDRESS,
  flash: 'The key was removed.',
})
