import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LdapProvider } from '../../../src/base/providers/ldap.ts'
import { followDirectories } from '../../../src/identity/providers/ldap/tasks.ts'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { newFolder } from '../../support/database.ts'
import { isThere } from '../../support/needed.ts'
import { BASE, openSlapd, type Slapd } from '../../support/slapd.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { openWorld, type World } from '../../support/world.ts'

const hasSlapd = isThere('slapd', existsSync('/usr/sbin/slapd'))

const person = (uid: string) => `dn: uid=${uid},ou=people,${BASE}
objectClass: inetOrgPerson
uid: ${uid}
cn: The ${uid}
sn: ${uid}
mail: ${uid}@example.com
userPassword: secret of ${uid}

`
const group = (cn: string, ...members: string[]) => `dn: cn=${cn},ou=groups,${BASE}
objectClass: groupOfNames
cn: ${cn}
${members.map((uid) => `member: uid=${uid},ou=people,${BASE}`).join('\n')}

`
const people = `dn: ${BASE}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: cn=reader,${BASE}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: the reader's

dn: ou=people,${BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${BASE}
objectClass: organizationalUnit
ou: groups

${['ana', 'ben', 'cleo', 'dan', 'eve', 'fay', 'linked'].map((uid) => person(uid)).join('')}
dn:: ${Buffer.from(`uid=jürgen,ou=people,${BASE}`).toString('base64')}
objectClass: inetOrgPerson
uid:: ${Buffer.from('jürgen').toString('base64')}
cn: Jurgen
sn: Jurgen
mail: juergen@example.com
userPassword: secret of juergen

${group('devs', 'ana', 'ben')}${group('admins', 'ben')}`

const provider: Omit<LdapProvider, 'url'> = {
  name: 'directory',
  label: 'Corp',
  sign_up: 'allowed',
  allowed_groups: [],
  administrators: ['admins'],
  groups: { devs: [{ group: 'team', role: 'developer' }] },
  start_tls: true,
  bind_dn: `cn=reader,${BASE}`,
  bind_password: "the reader's",
  base: `ou=people,${BASE}`,
  filter: '(objectClass=inetOrgPerson)',
  active_directory: false,
  email_attribute: 'mail',
  name_attribute: 'cn',
  group_base: `ou=groups,${BASE}`,
  group_filter: '(objectClass=groupOfNames)',
  group_name_attribute: 'cn',
  trust_email: true,
  git: true,
}

describe.skipIf(!hasSlapd)('a directory', () => {
  let slapd: Slapd
  let world: World
  let silent: ReturnType<typeof createServer>
  /** What a server that does not do as it says was sent, a text for each connection. */
  const received: string[] = []
  const open = new Set<Socket>()

  beforeAll(async () => {
    slapd = await openSlapd(newFolder(), people)
    silent = createServer((socket) => {
      const at = received.push('') - 1
      open.add(socket)
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        received[at] += bytes.toString('latin1')
        // Says yes to STARTTLS, and hangs up: a client that connects anew must not speak plainly.
        if (received[at]?.includes('1466.20037')) {
          socket.end(Buffer.from('300c02010178070a010004000400', 'hex'))
        }
      })
    }).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port: silentPort } = silent.address() as { port: number }
    const url = `ldap://localhost:${slapd.port}`
    const ca_file = slapd.ca
    world = await openWorld({
      outboundAllow: ['127.0.0.1', 'localhost', '::1'],
      outboundTimeout: 1500,
      signInProviders: {
        openid: [],
        ldap: [
          { ...provider, url, ca_file },
          {
            ...provider,
            name: 'secure',
            git: false,
            url: `ldaps://localhost:${slapd.securePort}`,
            ca_file,
          },
          {
            ...provider,
            name: 'misnamed',
            git: false,
            url: `ldaps://127.0.0.1:${slapd.securePort}`,
            ca_file,
          },
          {
            ...provider,
            name: 'untrusted',
            git: false,
            url: `ldaps://localhost:${slapd.securePort}`,
          },
          {
            ...provider,
            name: 'silent',
            git: false,
            start_tls: false,
            url: `ldap://127.0.0.1:${silentPort}`,
          },
          { ...provider, name: 'liar', git: false, url: `ldap://127.0.0.1:${silentPort}` },
          { ...provider, name: 'devs', git: false, url, ca_file, allowed_groups: ['devs'] },
          { ...provider, name: 'private', git: false, url: 'ldap://10.1.2.3' },
        ],
      },
    })
    await createGroup(world.root, 'team')
  })
  afterAll(async () => {
    await world.close()
    for (const socket of open) socket.destroy()
    silent.close()
    await slapd.close()
  })

  async function signIn(
    login: string,
    password: string,
    from = 'directory',
    browser = new Browser(world.url),
  ) {
    const form = await browser.get('/users/sign_in')
    return await browser.submit(form, '/users/sign_in', {
      'user[provider]': from,
      'user[login]': login,
      'user[password]': password,
    })
  }

  const found = async (username: string) =>
    (await world.root.get(`/users?username=${username}`)).body[0]

  const follow = async () => {
    await world.ctx.work.enqueue(world.ctx.db, followDirectories, {})
    await world.runTasks()
  }

  test('a password of the directory signs in, the first time into a new account', async () => {
    const page = await new Browser(world.url).get('/users/sign_in')
    expect(page.text).toMatch(/<option value="directory"[^>]*>Corp</)
    expect((await signIn('ana', 'secret of ana')).status).toBe(303)
    const user = await found('ana')
    expect(user).toMatchObject({ name: 'The ana', email: 'ana@example.com', is_admin: false })
    expect(user.identities[0]).toMatchObject({
      provider: 'directory',
      extern_uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const member = await world.root.get(`/groups/team/members/${user.id}`)
    expect(member.body.access_level).toBe(30)
    expect((await signIn('ben', 'secret of ben')).status).toBe(303)
    expect((await found('ben')).is_admin).toBe(true)
    expect((await signIn('jürgen', 'secret of juergen')).status).toBe(303)
    expect((await found('ju-rgen')).email).toBe('juergen@example.com')
  })

  test.each([
    ['a wrong password', 'ana', 'secret of ben'],
    ['no password', 'ana', ''],
    ['nobody', 'nobody', 'secret of ana'],
    ['a pattern', 'an*', 'secret of ana'],
    ['everybody', '*', 'secret of ana'],
    ['a filter', 'ana)(uid=*', 'secret of ana'],
    ['a filter that ends', 'ana))(|(uid=*', 'secret of ana'],
    ['a name with a byte of zero', 'ana\0', 'secret of ana'],
    ['a name in bytes', '\\61na', 'secret of ana'],
    ['a distinguished name', `uid=ana,ou=people,${BASE}`, 'secret of ana'],
    ['who looks people up', 'reader', "the reader's"],
  ])('%s does not', async (_, login, password) => {
    const browser = new Browser(world.url)
    const refused = await signIn(login, password, 'directory', browser)
    expect([401, 422, 400]).toContain(refused.status)
    expect((await browser.get('/users/sign_in')).text).not.toContain('You are signed in')
  })

  test('by TLS from the start too, and only with a certificate for its name by who is trusted', async () => {
    expect((await signIn('cleo', 'secret of cleo', 'secure')).status).toBe(303)
    for (const name of ['misnamed', 'untrusted', 'private']) {
      const refused = await signIn('cleo', 'secret of cleo', name)
      expect([name, refused.status]).toEqual([name, 503])
      expect(refused.text).toContain('cannot be reached')
    }
  })

  test('a server that says nothing holds nobody up for long, and one that hangs up gets no password', async () => {
    received.length = 0
    expect((await signIn('ana', 'secret of ana', 'silent')).status).toBe(503)
    received.length = 0
    expect((await signIn('ana', 'secret of ana', 'liar')).status).toBe(503)
    expect(received).toHaveLength(1)
    expect(received[0]).not.toContain('reader')
  })

  test('an address that an account has is not taken over; its owner links the entry', async () => {
    const linked = await world.user('linked')
    expect((await signIn('linked', 'secret of linked')).status).toBe(409)
    const browser = await signedInBrowser(world, linked)
    const page = '/-/user_settings/identities'
    const prove = (password: string) =>
      submitForm(browser, page, `${page}/directory/prove`, {
        'directory[login]': 'linked',
        'directory[password]': password,
      })
    await prove('wrong')
    expect((await browser.get(page)).text).toContain('The username or the password is wrong.')
    expect((await found('linked')).identities).toEqual([])
    await prove('secret of linked')
    expect((await found('linked')).identities[0].provider).toBe('directory')
    expect((await signIn('linked', 'secret of linked')).status).toBe(303)
    const form = await browser.get(page)
    expect(form.text).not.toContain(`${page}/directory/unlink`)
    await browser.submit(form, `${page}/directory/unlink`, {})
    expect((await found('linked')).identities).toHaveLength(1)
    expect((await signIn('ben', 'secret of ben', 'devs')).status).toBe(409)
    expect((await signIn('dan', 'secret of dan', 'devs')).text).toContain('none of the groups')
  })

  test('git over HTTP takes the password, and our own go on', async () => {
    await createProject(world.root, 'Shared', {
      namespace_id: (await world.root.get('/groups/team')).body.id,
    })
    const status = async (user: string, password: string) => {
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      const url = `${world.url}/team/shared.git/info/refs?service=git-upload-pack`
      return (await fetch(url, { headers: { authorization } })).status
    }
    expect(await status('ana', 'secret of ana')).toBe(200)
    for (let times = 0; times < 3; times++) expect(await status('ana', 'secret of ana')).toBe(200)
    expect(await status('ana', 'wrong')).toBe(401)
    expect(await status('ana', '')).toBe(401)
    await world.root.put(`/users/${world.root.id}`, { password: PASSWORD })
    expect(await status('root', PASSWORD)).toBe(200)
  })

  test('who is not in the directory any more is blocked, and comes back with it', async () => {
    const browser = new Browser(world.url)
    await signIn('dan', 'secret of dan', 'directory', browser)
    await signIn('eve', 'secret of eve')
    const { id } = await found('eve')
    slapd.change(`dn: uid=dan,ou=people,${BASE}\nchangetype: delete\n`)
    slapd.change(
      `dn: uid=eve,ou=people,${BASE}\nchangetype: moddn\nnewrdn: uid=eva\ndeleteoldrdn: 1\n`,
    )
    await follow()
    expect((await found('dan')).state).toBe('ldap_blocked')
    expect((await browser.get('/users/sign_in')).text).not.toContain('You are signed in')
    const { id: dan } = await found('dan')
    expect((await world.root.post(`/users/${dan}/unblock`)).status).toBe(403)
    // A name is another one, but the entry is the same.
    expect((await found('eve')).state).toBe('active')
    expect((await signIn('eva', 'secret of eve')).status).toBe(303)
    expect((await found('eve')).id).toBe(id)
    // Somebody else of the same name is not who left.
    slapd.change(`${person('dan').replace('\nobjectClass', '\nchangetype: add\nobjectClass')}`)
    await follow()
    expect((await found('dan')).state).toBe('ldap_blocked')
    const { body } = await world.root.get(`/audit_events?entity_type=User&entity_id=${dan}`)
    expect(body.map((one: { event_name: string }) => one.event_name)).toContain('user_blocked')
  })

  test('a role of a group ends without a sign-in, and so does an administrator', async () => {
    const { id } = await found('ben')
    slapd.change(
      `dn: cn=devs,ou=groups,${BASE}\nchangetype: modify\ndelete: member\nmember: uid=ben,ou=people,${BASE}\n`,
    )
    slapd.change(
      `dn: cn=admins,ou=groups,${BASE}\nchangetype: modify\nreplace: member\nmember: uid=ana,ou=people,${BASE}\n`,
    )
    await follow()
    expect((await world.root.get(`/groups/team/members/${id}`)).status).toBe(404)
    expect([(await found('ben')).is_admin, (await found('ana')).is_admin]).toEqual([false, true])
  })

  test('a directory that is down blocks nobody, and lets nobody in', async () => {
    await signIn('fay', 'secret of fay')
    await slapd.close()
    await follow()
    expect((await found('fay')).state).toBe('active')
    expect((await signIn('fay', 'secret of fay')).status).toBe(503)
  })
})
