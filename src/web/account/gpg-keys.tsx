import { parseGpgKey } from '../../base/gpg-key.ts'
import { call } from '../../http/call/call.ts'
import { addOwnGpgKey, listOwnGpgKeys, removeOwnGpgKey } from '../../identity/gpg-keys/endpoints.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Blank, counted, Time } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/gpg_keys'

export const gpgKeysPage = page({
  address: ADDRESS,
  summary: 'My GPG keys',
  signedIn: true,
  api: () => '/user/gpg_keys',
  async read(ctx) {
    const { items } = await call(listOwnGpgKeys, ctx, { path: {}, query: { per_page: 100 } })
    const keys = items.map(({ id, key, created_at }) => {
      const read = parseGpgKey(key)
      return { id, created_at, fingerprint: read?.fingerprint, subkeys: read?.subkeys.length ?? 0 }
    })
    return { keys }
  },
  title: () => 'GPG keys · Gitstead',
  view: ({ keys }) => (
    <AccountFrame current="GPG keys">
      <p>Commits and tags that are signed with one of these keys are shown as verified.</p>
      <RefusalNote />
      {keys.length === 0 && <Blank icon="verified" title="You have no GPG keys" />}
      <ul class="list">
        {keys.map((key) => (
          <li key={key.id}>
            <div class="main">
              <p class="mono breakable">{key.fingerprint?.toUpperCase()}</p>
              <p class="facts">
                {counted(key.subkeys, 'subkey')} · added <Time at={key.created_at} />
              </p>
            </div>
            <ButtonForm
              action={`${ADDRESS}/${key.id}/remove`}
              label="Remove"
              kind="danger"
              confirm="Remove this key? What it signed is no longer shown as verified."
            />
          </li>
        ))}
      </ul>
      <section class="box">
        <h2 class="box-head">Add a key</h2>
        <Form action={ADDRESS} class="form box-body">
          <Field
            name="key"
            label="Public key block"
            hint="What gpg --armor --export prints"
            area={{ rows: 8 }}
            input={{ required: true, spellcheck: false, class: 'mono' }}
          />
          <button type="submit" class="button primary">
            Add the key
          </button>
        </Form>
      </section>
    </AccountFrame>
  ),
})

export const addGpgKeyForm = form({
  address: ADDRESS,
  summary: 'Add a GPG key of the caller',
  fresh: true,
  endpoint: addOwnGpgKey,
  page: gpgKeysPage,
  input: ({ fields: { key } }) => ({ path: {}, body: { key } }),
  goTo: () => ADDRESS,
  flash: 'The key was added.',
})

export const removeGpgKeyForm = form({
  address: '/-/user_settings/gpg_keys/:key_id/remove',
  summary: 'Remove a GPG key of the caller',
  endpoint: removeOwnGpgKey,
  input: ({ path }) => ({ path }),
  goTo: () => ADDRESS,
  flash: 'The key was removed.',
})
