import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
const PID = 'c'.repeat(40)
const INFO = '[settings]\nos=Linux\n'

beforeAll(async () => {
  const group = await createGroup(ana, 'top')
  const sub = await createGroup(ana, 'sub', { parent_id: group.id })
  projectId = (await createProject(ana, 'p', { namespace_id: sub.id })).id
})

/** The two places where protocol 1 is spoken, each with the user that its recipes have. */
const places = [
  ['of a project', () => `/projects/${projectId}/packages/conan/v1`, 'org'],
  ['of the server', () => '/packages/conan/v1', 'top+sub+p'],
] as const

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const pathOf = (url: unknown) => String(url).replace(/^.*\/api\/v4/, '')
const askUrls = (path: string, sizes: unknown, who = ana) =>
  who.post(`${path}/upload_urls`, undefined, {
    raw: typeof sizes === 'string' ? sizes : JSON.stringify(sizes),
    headers: { 'Content-Type': 'application/json' },
  })
const put = (path: string, raw: string, who = ana) => who.put(path, undefined, { raw })

/** Uploads as the client does: it asks where, and sends each file there. */
async function upload(path: string, files: Readonly<Record<string, string>>) {
  const sizes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.length]))
  const asked = await askUrls(path, sizes)
  expect([asked.status, Object.keys(asked.body)]).toEqual([200, Object.keys(files)])
  for (const [name, text] of Object.entries(files)) {
    expect((await put(pathOf(asked.body[name]), text)).status).toBe(200)
  }
}
const RECIPE = { 'conanfile.py': 'from conan', 'conanmanifest.txt': 'manifest' }
const PACKAGE = {
  'conaninfo.txt': INFO,
  'conan_package.tgz': 'tgz',
  'conanmanifest.txt': 'package',
}

describe.each(places)('below the address %s', (_where, rootOf, user) => {
  const recipeAt = (name: string, version = '1.0') =>
    `${rootOf()}/conans/${name}/${version}/${user}/beta`

  test('a recipe is uploaded, listed with its hashes, and downloaded', async () => {
    const at = recipeAt('hello')
    await upload(at, RECIPE)
    const snapshot = await ana.get(at)
    expect([snapshot.status, snapshot.body]).toEqual([
      200,
      { 'conanfile.py': md5('from conan'), 'conanmanifest.txt': md5('manifest') },
    ])
    expect(snapshot.headers.get('content-type')).toBe('application/json')
    const { body: urls } = await ana.get(`${at}/download_urls`)
    const files = `${rootOf()}/files/hello/1.0/${encodeURIComponent(user)}/beta/0/export`
    expect(Object.entries(urls).map(([name, url]) => [name, pathOf(url)])).toEqual([
      ['conanfile.py', `${files}/conanfile.py`],
      ['conanmanifest.txt', `${files}/conanmanifest.txt`],
    ])
    expect(urls['conanfile.py']).toMatch(/^http:\/\/[^/]+\/api\/v4\//)
    expect((await ana.get(pathOf(urls['conanfile.py']))).body).toBe('from conan')
    const digest = (await ana.get(`${at}/digest`)).body
    expect(digest).toEqual({ 'conanmanifest.txt': urls['conanmanifest.txt'] })
  })

  test('a package of a recipe goes up, is found, and comes down again', async () => {
    const at = recipeAt('lib')
    await upload(at, RECIPE)
    await upload(`${at}/packages/${PID}`, PACKAGE)
    expect((await ana.get(`${at}/packages/${PID}`)).body).toEqual({
      'conaninfo.txt': md5(INFO),
      'conan_package.tgz': md5('tgz'),
      'conanmanifest.txt': md5('package'),
    })
    const urls = (await ana.get(`${at}/packages/${PID}/download_urls`)).body
    expect(Object.keys(urls)).toEqual(Object.keys(PACKAGE))
    const path = pathOf(urls['conan_package.tgz'])
    expect(path).toContain(`/0/package/${PID}/0/conan_package.tgz`)
    expect((await ana.get(path)).body).toBe('tgz')
    expect(Object.keys((await ana.get(`${at}/packages/${PID}/digest`)).body)).toEqual([
      'conanmanifest.txt',
    ])
    expect((await ana.get(`${at}/search`)).body[PID].settings).toEqual({ os: 'Linux' })
    expect(await ana.get(`${at}/packages/other`)).toMatchObject({ status: 200, body: {} })
    expect((await ana.get(`${at}/packages/other/download_urls`)).status).toBe(404)
  })

  test('a recipe that goes up again replaces its files', async () => {
    const at = recipeAt('again')
    await upload(at, RECIPE)
    await upload(at, { ...RECIPE, 'conanfile.py': 'changed' })
    expect((await ana.get(at)).body['conanfile.py']).toBe(md5('changed'))
    const urls = (await ana.get(`${at}/download_urls`)).body
    expect((await ana.get(pathOf(urls['conanfile.py']))).body).toBe('changed')
  })

  test('what is not there has no hashes, and no addresses', async () => {
    const at = recipeAt('missing')
    expect(await ana.get(at)).toMatchObject({ status: 200, body: {} })
    expect((await ana.get(`${at}/packages/${PID}`)).body).toEqual({})
    for (const path of ['digest', 'download_urls', 'search', `packages/${PID}/digest`]) {
      expect([path, (await ana.get(`${at}/${path}`)).status]).toEqual([path, 404])
    }
    expect((await ana.delete(at)).status).toBe(404)
    const files = at.replace('/conans/', '/files/')
    expect((await ana.get(`${files}/0/export/conanfile.py`)).status).toBe(404)
  })

  test('only files that recipes and packages have are given an address', async () => {
    const at = recipeAt('picked')
    const sizes = { 'conanfile.py': 1, 'conaninfo.txt': 1, '../x': 1, 'evil.sh': 1, __proto__x: 1 }
    expect(Object.keys((await askUrls(at, sizes)).body)).toEqual(['conanfile.py'])
    expect(Object.keys((await askUrls(`${at}/packages/${PID}`, sizes)).body)).toEqual([
      'conaninfo.txt',
    ])
    expect((await askUrls(at, {})).body).toEqual({})
    for (const bad of ['{', '1', 'null', '"x"']) expect((await askUrls(at, bad)).status).toBe(400)
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, 1]))
    expect((await askUrls(at, many)).status).toBe(400)
    expect((await askUrls(`${at}/packages/a-b`, { 'conaninfo.txt': 1 })).status).toBe(400)
    const files = at.replace('/conans/', '/files/')
    for (const path of [
      '0/export/evil.sh',
      '0/package/a-b/0/conaninfo.txt',
      `0/package/${PID}/0/x`,
    ]) {
      expect([path, (await put(`${files}/${path}`, 'x')).status]).toEqual([path, 400])
    }
    for (const path of ['1/export/conanfile.py', `0/package/${PID}/1/conaninfo.txt`]) {
      expect([path, (await put(`${files}/${path}`, 'x')).status]).toEqual([path, 404])
    }
  })

  test('Guests read, Developers upload and Maintainers delete', async () => {
    const at = recipeAt('ruled')
    for (const [level, read, write, remove] of [
      [0, 404, 404, 404],
      [10, 200, 403, 403],
      [30, 200, 200, 403],
      [40, 200, 200, 200],
    ] as const) {
      const who = await world.user(`v1${user.length}x${level}`)
      if (level > 0) await addMember(world, projectId, who.id, level)
      await upload(at, RECIPE)
      for (const path of ['', '/download_urls', '/digest', '/search']) {
        expect([level, path, (await who.get(at + path)).status]).toEqual([level, path, read])
      }
      expect((await askUrls(at, { 'conanfile.py': 1 }, who)).status).toBe(write)
      const file = `${at.replace('/conans/', '/files/')}/0/export/conanfile.py`
      expect((await put(file, 'x', who)).status).toBe(write)
      expect((await who.get(file)).status).toBe(read)
      expect((await who.delete(at)).status).toBe(remove)
    }
    for (const path of [at, `${at}/download_urls`, `${at}/search`]) {
      const answer = await world.nobody.get(path)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc Packages Registry"',
      ])
    }
  })

  test('a recipe is deleted with everything, and its name is free', async () => {
    const at = recipeAt('whole')
    await upload(at, RECIPE)
    await upload(`${at}/packages/${PID}`, PACKAGE)
    const answer = await ana.delete(at)
    expect([answer.status, answer.body]).toEqual([200, {}])
    expect((await ana.get(at)).body).toEqual({})
    expect((await ana.get(`${at}/search`)).status).toBe(404)
    await upload(at, RECIPE)
    expect((await ana.get(`${at}/search`)).body).toEqual({})
  })
})

test('the whole server knows recipes by the project that is their user, and no others', async () => {
  const recipe = (user: string) => `/packages/conan/v1/conans/named/1.0/${user}/beta`
  for (const user of ['top+sub+none', 'top', '_', 'ana', '..+..', 'top%2fsub%2fp%2f..']) {
    expect([user, (await askUrls(recipe(user), { 'conanfile.py': 1 })).status]).toEqual([user, 404])
    expect((await world.nobody.get(recipe(user))).status).toBe(401)
  }
  await upload(recipe('top+sub+p'), RECIPE)
  const inProject = `/projects/${projectId}/packages/conan/v1/conans/named/1.0/top+sub+p/beta`
  expect(Object.keys((await ana.get(inProject)).body)).toEqual(Object.keys(RECIPE))
})

test('a search of the whole server finds what its caller may read', async () => {
  await upload('/packages/conan/v1/conans/private/1.0/top+sub+p/beta', RECIPE)
  const open = await ana.post('/projects', { name: 'open', visibility: 'public' })
  await upload(`/projects/${open.body.id}/packages/conan/v1/conans/privately/1.0/_/_`, RECIPE)
  const found = async (who: Caller) =>
    (await who.get('/packages/conan/v1/conans/search?q=private*')).body.results
  expect(await found(ana)).toEqual(['private/1.0@top+sub+p/beta', 'privately/1.0'])
  expect(await found(world.nobody)).toEqual(['privately/1.0'])
  const guest = await world.user('searching')
  expect(await found(guest)).toEqual(['privately/1.0'])
  await addMember(world, projectId, guest.id, 10)
  expect(await found(guest)).toEqual(['private/1.0@top+sub+p/beta', 'privately/1.0'])
})

test('at most five hundred recipes are found', async () => {
  const { db } = world.ctx
  const { id: _, ...row } = await db
    .selectFrom('packages')
    .selectAll()
    .where('package_type', '=', 'conan')
    .where('status', '=', 'default')
    .limit(1)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: 510 }, (_, index) => {
    const name = `bulk${index}/1.0@_/_`
    return { ...row, name, name_key: name, version: '1.0', version_key: '1.0' }
  })
  await db.insertInto('packages').values(rows).execute()
  const { body } = await ana.get(`/projects/${projectId}/packages/conan/v1/conans/search?q=bulk*`)
  expect(body.results).toHaveLength(500)
})

test('what protocol 1 uploaded is a revision of its own to protocol 2, and they share the recipe', async () => {
  const root = `/projects/${projectId}/packages/conan`
  await upload(`${root}/v1/conans/both/1.0/org/beta`, RECIPE)
  const at = `${root}/v2/conans/both/1.0/org/beta`
  expect((await ana.get(`${at}/latest`)).body.revision).toBe('0')
  expect((await ana.get(`${at}/revisions/0/files/conanfile.py`)).body).toBe('from conan')
  const rrev = 'd'.repeat(32)
  for (const name of ['conanfile.py', 'conanmanifest.txt']) {
    await put(`${at}/revisions/${rrev}/files/${name}`, 'second')
  }
  expect((await ana.get(`${at}/latest`)).body.revision).toBe(rrev)
  expect((await ana.get(`${root}/v1/conans/both/1.0/org/beta`)).body['conanfile.py']).toBe(
    md5('from conan'),
  )
  expect((await ana.delete(`${root}/v1/conans/both/1.0/org/beta`)).status).toBe(200)
  expect((await ana.get(`${at}/latest`)).status).toBe(404)
})

test('signing in works below the server too, with the same tokens', async () => {
  const pair = Buffer.from(`any:${ana.token}`).toString('base64')
  const root = '/packages/conan/v1/users'
  const basic = { headers: { Authorization: `Basic ${pair}` } }
  const { body: token } = await world.nobody.get(`${root}/authenticate`, basic)
  const bearer = { headers: { Authorization: `Bearer ${token}` } }
  expect((await world.nobody.get(`${root}/check_credentials`, bearer)).body).toBe('ok')
  const recipe = '/packages/conan/v1/conans/hello/1.0/top+sub+p/beta'
  expect((await world.nobody.get(recipe, bearer)).status).toBe(200)
  expect((await world.nobody.get(`${root}/authenticate`)).status).toBe(401)
})
