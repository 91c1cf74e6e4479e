import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { headOf, RawClient } from '../../support/raw-request.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
let at: string
const R1 = '1'.repeat(32)
const R2 = '2'.repeat(40)
const P1 = 'a'.repeat(32)
const P2 = 'b'.repeat(32)
const PID = 'c'.repeat(40)
const INFO =
  '[settings]\n    os=Linux\n    arch: x86_64\n[options]\nshared=True\n[requires]\nzlib/1.3\n'

beforeAll(async () => {
  const made = await ana.post('/projects', { name: 'p', visibility: 'private' })
  projectId = made.body.id
  at = `/projects/${projectId}/packages/conan/v2`
})

const put = (path: string, raw = 'bytes', who = ana, headers = {}) =>
  who.put(path, undefined, { raw, headers })
const recipeAt = (recipe: string) => `${at}/conans/${recipe}`
const revisionAt = (recipe: string, rrev = R1) => `${recipeAt(recipe)}/revisions/${rrev}`
const packageAt = (recipe: string, rrev = R1, pid = PID) =>
  `${revisionAt(recipe, rrev)}/packages/${pid}`
const codeOf = (answer: Reply) => [answer.status, answer.body]

async function upload(folder: string, names: readonly string[], content = 'bytes') {
  for (const name of names) expect((await put(`${folder}/files/${name}`, content)).status).toBe(200)
}
const uploadRecipe = (recipe: string, rrev = R1) =>
  upload(revisionAt(recipe, rrev), ['conanfile.py', 'conanmanifest.txt'])
async function uploadPackage(recipe: string, rrev = R1, pid = PID, prev = P1) {
  const folder = `${packageAt(recipe, rrev, pid)}/revisions/${prev}`
  await upload(folder, ['conaninfo.txt'], INFO)
  await upload(folder, ['conan_package.tgz', 'conanmanifest.txt'])
}

describe('a recipe', () => {
  test('is uploaded with each of its files, listed, and downloaded as it was', async () => {
    const files = ['conanfile.py', 'conan_sources.tgz', 'conan_export.tgz', 'conanmanifest.txt']
    const answer = await put(`${revisionAt('all/1.0/org/beta')}/files/conanfile.py`, 'from conan')
    expect(codeOf(answer)).toEqual([200, {}])
    expect(answer.headers.get('content-type')).toBe('application/json')
    await upload(revisionAt('all/1.0/org/beta'), files.slice(1))
    const listed = await ana.get(`${revisionAt('all/1.0/org/beta')}/files`)
    expect(listed.body).toEqual({ files: Object.fromEntries(files.map((name) => [name, {}])) })
    expect(listed.headers.get('content-type')).toBe('application/json')
    const got = await ana.get(`${revisionAt('all/1.0/org/beta')}/files/conanfile.py`)
    expect([got.status, got.body]).toEqual([200, 'from conan'])
    expect(got.headers.get('content-disposition')).toBe('attachment; filename="conanfile.py"')
    const head = await ana.head(`${revisionAt('all/1.0/org/beta')}/files/conanfile.py`)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10'])
  })

  test('is in the list of packages with its whole name, and with its own', async () => {
    await uploadRecipe('shown/1.0/org/beta')
    await uploadRecipe('shown/2.0/_/_')
    const { body } = await ana.get(
      `/projects/${projectId}/packages?package_name=shown&order_by=version`,
    )
    const names = body.map((one: { name: string; version: string; conan_package_name: string }) => [
      one.name,
      one.version,
      one.conan_package_name,
    ])
    expect(names).toEqual([
      ['shown/1.0@org/beta', '1.0', 'shown'],
      ['shown/2.0@_/_', '2.0', 'shown'],
    ])
  })

  test('is nothing to anybody until its manifest is there, which comes last', async () => {
    const recipe = 'begun/1.0/_/_'
    await upload(revisionAt(recipe), ['conanfile.py'])
    for (const path of [
      `${recipeAt(recipe)}/latest`,
      `${recipeAt(recipe)}/revisions`,
      `${recipeAt(recipe)}/search`,
      `${revisionAt(recipe)}/files`,
      `${revisionAt(recipe)}/files/conanfile.py`,
    ]) {
      expect([path, (await ana.get(path)).status]).toEqual([path, 404])
    }
    expect((await ana.get(`${at}/conans/search?q=begun*`)).body).toEqual({ results: [] })
    const status = async (query: string) =>
      (await ana.get(`/projects/${projectId}/packages?package_name=begun${query}`)).body.length
    expect([await status(''), await status('&status=processing')]).toEqual([0, 1])
    await upload(revisionAt(recipe), ['conanmanifest.txt'])
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body).toEqual({
      revision: R1,
      time: world.ctx.now(),
    })
    expect([await status(''), await status('&status=processing')]).toEqual([1, 0])
  })

  test('keeps its newest whole revision as the latest while the next one comes', async () => {
    const recipe = 'next/1.0/_/_'
    await uploadRecipe(recipe)
    world.setNow('2026-05-04T11:00:00.000Z')
    await upload(revisionAt(recipe, R2), ['conanfile.py'])
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R1)
    await upload(revisionAt(recipe, R2), ['conanmanifest.txt'])
    expect((await ana.get(`${recipeAt(recipe)}/revisions`)).body).toEqual({
      reference: 'next/1.0',
      revisions: [
        { revision: R2, time: '2026-05-04T11:00:00.000Z' },
        { revision: R1, time: '2026-05-04T10:00:00.000Z' },
      ],
    })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('says its user and channel where it has them', async () => {
    await uploadRecipe('owned/1.0/org/stable')
    const { body } = await ana.get(`${recipeAt('owned/1.0/org/stable')}/revisions`)
    expect(body.reference).toBe('owned/1.0@org/stable')
    expect((await ana.get(`${recipeAt('owned/1.0/_/_')}/revisions`)).status).toBe(404)
    expect((await ana.get(`${recipeAt('owned/1.0/org/beta')}/revisions`)).status).toBe(404)
  })

  test('takes each file of a revision once, whoever is first of many', async () => {
    const file = `${revisionAt('once/1.0/_/_')}/files/conanfile.py`
    const sent = await Promise.all(
      Array.from({ length: 8 }, (_, index) => put(file, `try ${index}`)),
    )
    expect(sent.map((one) => one.status).sort()).toEqual([200, ...Array(7).fill(400)])
    await upload(revisionAt('once/1.0/_/_'), ['conanmanifest.txt'])
    const won = sent.findIndex((one) => one.status === 200)
    expect((await ana.get(file)).body).toBe(`try ${won}`)
    expect((await put(file.replace(R1, R2))).status).toBe(200)
  })

  test('takes what is the same once more until its manifest is there, from who broke off', async () => {
    const recipe = 'again/1.0/_/_'
    const sources = `${revisionAt(recipe)}/files/conan_sources.tgz`
    const sent = [await put(sources, 'x'), await put(sources, 'x'), await put(sources, 'y')]
    expect(sent.map((one) => one.status)).toEqual([200, 200, 400])
    await upload(revisionAt(recipe), ['conanfile.py', 'conanmanifest.txt'])
    expect((await put(sources, 'x')).status).toBe(400)
    const [row] = (await ana.get(`/projects/${projectId}/packages?package_name=again`)).body
    const files = await ana.get(`/projects/${projectId}/packages/${row.id}/package_files`)
    expect(files.body.map((one: { file_name: string }) => one.file_name)).toEqual([
      'conan_sources.tgz',
      'conanfile.py',
      'conanmanifest.txt',
    ])
  })

  test('leaves nothing of a file whose upload breaks off', async () => {
    const file = `${revisionAt('cut/1.0/_/_')}/files/conanfile.py`
    const client = await RawClient.open(world.url)
    const headers = { 'PRIVATE-TOKEN': ana.token ?? '', 'Content-Length': 1000 }
    client
      .write(headOf(`PUT /api/v4${file}`, headers))
      .write('half')
      .socket.end()
    await client.whole()
    expect((await put(file, 'whole')).status).toBe(200)
    await upload(revisionAt('cut/1.0/_/_'), ['conanmanifest.txt'])
    expect((await ana.get(file)).body).toBe('whole')
  })

  test('deleted in one of its revisions keeps the others, and goes with the last', async () => {
    const recipe = 'fading/1.0/_/_'
    await uploadRecipe(recipe)
    await uploadRecipe(recipe, R2)
    await uploadPackage(recipe, R2)
    const answer = await ana.delete(revisionAt(recipe, R2))
    expect(codeOf(answer)).toEqual([200, {}])
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R1)
    expect((await ana.get(`${packageAt(recipe, R2)}/latest`)).status).toBe(404)
    expect((await ana.get(`${recipeAt(recipe)}/search`)).body).toEqual({})
    expect((await ana.delete(revisionAt(recipe, R2))).status).toBe(404)
    expect((await ana.delete(revisionAt(recipe))).status).toBe(200)
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).status).toBe(404)
    const { body } = await ana.get(`/projects/${projectId}/packages?package_name=fading`)
    expect(body).toEqual([])
    await uploadRecipe(recipe, R2)
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R2)
  })

  test('of more than a thousand files is deleted whole alone', async () => {
    const recipe = 'many/1.0/_/_'
    await uploadRecipe(recipe)
    await uploadRecipe(recipe, R2)
    const { db } = world.ctx
    const { id: _, ...row } = await db
      .selectFrom('package_files as f')
      .innerJoin('packages as p', 'p.id', 'f.package_id')
      .selectAll('f')
      .where('p.name', '=', 'many/1.0@_/_')
      .limit(1)
      .executeTakeFirstOrThrow()
    const metadata = JSON.stringify({ rrev: R1, pid: PID, prev: P1 })
    for (let from = 0; from < 1000; from += 500) {
      const rows = Array.from({ length: 500 }, () => ({ ...row, metadata }))
      await db.insertInto('package_files').values(rows).execute()
    }
    const refused = await ana.delete(revisionAt(recipe))
    expect(codeOf(refused)).toEqual([422, { message: 'Cannot delete more than 1000 files' }])
    expect((await ana.delete(`${revisionAt(recipe)}/packages`)).status).toBe(200)
    expect((await ana.delete(revisionAt(recipe))).status).toBe(200)
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R2)
  })
})

describe('a package of a recipe', () => {
  test('is uploaded, listed with its revisions, and downloaded', async () => {
    const recipe = 'lib/1.0/org/beta'
    await uploadRecipe(recipe)
    await uploadPackage(recipe)
    world.setNow('2026-05-04T12:00:00.000Z')
    await uploadPackage(recipe, R1, PID, P2)
    world.setNow('2026-05-04T10:00:00.000Z')
    const newest = { revision: P2, time: '2026-05-04T12:00:00.000Z' }
    expect((await ana.get(`${packageAt(recipe)}/latest`)).body).toEqual(newest)
    expect((await ana.get(`${packageAt(recipe)}/revisions`)).body).toEqual({
      packageReference: `lib/1.0@org/beta#${R1}:${PID}`,
      revisions: [newest, { revision: P1, time: '2026-05-04T10:00:00.000Z' }],
    })
    const folder = `${packageAt(recipe)}/revisions/${P1}`
    expect((await ana.get(`${folder}/files`)).body).toEqual({
      files: { 'conaninfo.txt': {}, 'conan_package.tgz': {}, 'conanmanifest.txt': {} },
    })
    expect((await ana.get(`${folder}/files/conaninfo.txt`)).body).toBe(INFO)
    expect((await put(`${folder}/files/conan_package.tgz`)).status).toBe(400)
  })

  test('is described in searches by what its information says', async () => {
    const recipe = 'said/1.0/_/_'
    await uploadRecipe(recipe)
    await uploadPackage(recipe)
    const said = {
      settings: { os: 'Linux', arch: 'x86_64' },
      options: { shared: 'True' },
      full_requires: ['zlib/1.3'],
      recipe_hash: '',
      content: INFO,
    }
    for (const path of [recipeAt(recipe), revisionAt(recipe)]) {
      expect((await ana.get(`${path}/search`)).body).toEqual({ [PID]: said })
    }
    const old =
      '[full_requires]\nzlib/1.2:abc\n[recipe_hash]\n    0123\n[__proto__]\nx=y\nno section\n'
    const other = packageAt(recipe, R1, 'other')
    await upload(`${other}/revisions/${P1}`, ['conaninfo.txt'], old)
    const { body } = await ana.get(`${recipeAt(recipe)}/search`)
    expect(body.other).toEqual({
      settings: {},
      options: {},
      full_requires: ['zlib/1.2:abc'],
      recipe_hash: '0123',
      content: old,
    })
    await uploadRecipe(recipe, R2)
    expect((await ana.get(`${revisionAt(recipe, R2)}/search`)).body).toEqual({})
  })

  test('is unknown until its own manifest is there', async () => {
    const recipe = 'half/1.0/_/_'
    await uploadRecipe(recipe)
    await upload(`${packageAt(recipe)}/revisions/${P1}`, ['conan_package.tgz'])
    expect((await ana.get(`${packageAt(recipe)}/latest`)).status).toBe(404)
    expect((await ana.get(`${packageAt(recipe)}/revisions`)).status).toBe(404)
    await upload(`${packageAt(recipe)}/revisions/${P1}`, ['conanmanifest.txt'])
    expect((await ana.get(`${packageAt(recipe)}/latest`)).body.revision).toBe(P1)
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R1)
  })

  test('is deleted in one revision, whole, or with all others of the recipe', async () => {
    const recipe = 'gone/1.0/_/_'
    await uploadRecipe(recipe)
    for (const [pid, prev] of [
      ['one', P1],
      ['one', P2],
      ['two', P1],
      ['three', P1],
    ] as const) {
      await uploadPackage(recipe, R1, pid, prev)
    }
    const one = packageAt(recipe, R1, 'one')
    expect(codeOf(await ana.delete(`${one}/revisions/${P2}`))).toEqual([200, {}])
    expect((await ana.get(`${one}/latest`)).body.revision).toBe(P1)
    expect((await ana.delete(`${one}/revisions/${P2}`)).status).toBe(404)
    expect((await ana.delete(one)).status).toBe(200)
    expect((await ana.delete(one)).status).toBe(404)
    const left = async () => Object.keys((await ana.get(`${recipeAt(recipe)}/search`)).body)
    expect(await left()).toEqual(['two', 'three'])
    expect(codeOf(await ana.delete(`${revisionAt(recipe)}/packages`))).toEqual([200, {}])
    expect(await left()).toEqual([])
    expect((await ana.delete(`${revisionAt(recipe)}/packages`)).status).toBe(200)
    expect((await ana.get(`${revisionAt(recipe)}/files/conanfile.py`)).status).toBe(200)
  })

  test('whose information is too long is refused', async () => {
    const recipe = 'longinfo/1.0/_/_'
    await uploadRecipe(recipe)
    const file = `${packageAt(recipe)}/revisions/${P1}/files/conaninfo.txt`
    const refused = await put(file, `[settings]\n${'x=y\n'.repeat(20_000)}`)
    expect(codeOf(refused)).toEqual([
      400,
      { message: '400 Bad request - conaninfo.txt is too large' },
    ])
    expect((await put(file, INFO)).status).toBe(200)
  })
})

test('a recipe with a user and no channel is one of its own, named as clients print it', async () => {
  const recipe = 'plain/1.0/org/_'
  await uploadRecipe(recipe)
  await uploadPackage(recipe)
  for (const other of ['plain/1.0/_/_', 'plain/1.0/org/beta']) {
    expect((await ana.get(`${recipeAt(other)}/latest`)).status).toBe(404)
  }
  const { body } = await ana.get(`${recipeAt(recipe)}/revisions`)
  expect(body).toMatchObject({ reference: 'plain/1.0@org', revisions: [{ revision: R1 }] })
  const made = await ana.get(`${packageAt(recipe)}/revisions`)
  expect(made.body.packageReference).toBe(`plain/1.0@org#${R1}:${PID}`)
  await uploadRecipe('plain/1.0/_org/_')
  await uploadRecipe('plain/_/_/_')
  const found = await ana.get(`${at}/conans/search?q=plain*`)
  expect(found.body.results).toEqual(['plain/1.0@_org', 'plain/1.0@org', 'plain/_'])
  expect((await ana.get(`${at}/conans/search?q=plain/1.0@org`)).body.results).toHaveLength(1)
  const rule = { package_type: 'conan', minimum_access_level_for_delete: 'admin' }
  const rules = `/projects/${projectId}/packages/protection/rules`
  await ana.post(rules, { ...rule, package_name_pattern: 'plain/1.0@org' })
  expect((await ana.delete(revisionAt(recipe))).status).toBe(403)
  expect((await ana.delete(revisionAt('plain/1.0/_org/_'))).status).toBe(200)
})

describe('a search', () => {
  const search = async (query: string, who = ana) => who.get(`${at}/conans/search?${query}`)

  test('takes stars, in any case unless it says otherwise, and knows no other signs', async () => {
    for (const recipe of ['Zlib/1.2/_/_', 'zlib/1.3/org/beta', 'zlibx/2.0/_/_'])
      await uploadRecipe(recipe)
    const found = async (query: string) => (await search(query)).body.results
    expect(await found('q=zlib*')).toEqual(['Zlib/1.2', 'zlib/1.3@org/beta', 'zlibx/2.0'])
    expect(await found('q=zlib/*')).toEqual(['Zlib/1.2', 'zlib/1.3@org/beta'])
    expect(await found('q=zlib*&ignorecase=False')).toEqual(['zlib/1.3@org/beta', 'zlibx/2.0'])
    expect(await found('q=*org*')).toContain('zlib/1.3@org/beta')
    expect(await found('q=zlib/1.3')).toEqual([])
    expect(await found('q=zlib/1.3@org/beta')).toEqual(['zlib/1.3@org/beta'])
    expect(await found('q=ZLIBX/2.0')).toEqual(['zlibx/2.0'])
    for (const none of ['q=*', 'q=', '', 'q=zli_', 'q=zli%25', 'q=zli?', 'q=%5Ba-z%5D*']) {
      expect([none, await found(none)]).toEqual([none, []])
    }
    expect((await search('q=*****')).status).toBe(200)
    expect((await search('q=******')).status).toBe(400)
    expect((await search(`q=${'x'.repeat(200)}`)).status).toBe(200)
    expect((await search(`q=${'x'.repeat(201)}`)).status).toBe(400)
  })

  test('is of those who may read, and answers with JSON exactly', async () => {
    const answer = await search('q=zlib*')
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect((await search('q=zlib*', world.nobody)).status).toBe(401)
    expect((await search('q=zlib*', await world.user('searcher'))).status).toBe(404)
  })
})

describe('what nobody may name', () => {
  const file = `revisions/${R1}/files/conanfile.py`

  test.each([
    ['a name of one letter', 'a/1.0/_/_', 400],
    ['a name of 51', `${'a'.repeat(51)}/1.0/_/_`, 400],
    ['a name that begins with a dot', '.ab/1.0/_/_', 400],
    ['a name with a space', 'a%20b/1.0/_/_', 400],
    ['a name with letters of elsewhere', 'bücher/1.0/_/_', 400],
    ['a version that begins with a dash', 'name/-1.0/_/_', 400],
    ['a version of 51', `name/${'1'.repeat(51)}/_/_`, 400],
    ['a version with a slash', 'name/1%2f0/_/_', 400],
    ['a channel without a user', 'name/1.0/_/beta', 404],
    ['a user without a channel of one letter', 'name/1.0/o/_', 400],
    ['a user of one letter', 'name/1.0/o/beta', 400],
    ['a channel with a step up', 'name/1.0/org/..%2f..', 400],
  ])('%s', async (_what, recipe, status) => {
    expect((await put(`${recipeAt(recipe)}/${file}`)).status).toBe(status)
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).status).toBe(status)
  })

  test.each([
    'na_me+x.y-z/1.0+build.5-rc/org/beta',
    'ab/1/_/_',
    `${'a'.repeat(50)}/1.0/_/_`,
    '_a/_1/_x/_y',
    'ABC/V1/ORG/Beta',
  ])('unlike the recipe %s', async (recipe) => {
    await uploadRecipe(recipe.replaceAll('+', '%2b'))
    expect((await ana.get(`${recipeAt(recipe)}/latest`)).body.revision).toBe(R1)
  })

  test.each([
    ['a revision of another length', `revisions/${'1'.repeat(39)}/files/conanfile.py`],
    ['a revision in capitals', `revisions/${'A'.repeat(32)}/files/conanfile.py`],
    ['the revision of protocol 1', 'revisions/0/files/conanfile.py'],
    [
      'a package revision that is none',
      `revisions/${R1}/packages/${PID}/revisions/0/files/conaninfo.txt`,
    ],
    [
      'a package id with a dash',
      `revisions/${R1}/packages/a-b/revisions/${P1}/files/conaninfo.txt`,
    ],
    [
      'a package id of 65',
      `revisions/${R1}/packages/${'a'.repeat(65)}/revisions/${P1}/files/conaninfo.txt`,
    ],
    ['a file that recipes have not', `revisions/${R1}/files/conaninfo.txt`],
    [
      'a file that packages have not',
      `revisions/${R1}/packages/${PID}/revisions/${P1}/files/conanfile.py`,
    ],
    ['a file in other letters', `revisions/${R1}/files/Conanfile.py`],
    ['a file with a step up', `revisions/${R1}/files/..%2fconanfile.py`],
  ])('%s', async (_what, path) => {
    expect((await put(`${recipeAt('refused/1.0/_/_')}/${path}`)).status).toBe(400)
  })

  test('a file by its hash: such questions are always answered that it is not there', async () => {
    const path = `${recipeAt('probed/1.0/_/_')}/${file}`
    const probe = { 'X-Checksum-Deploy': 'true', 'X-Checksum-Sha1': 'a'.repeat(40) }
    expect((await put(path, '', ana, probe)).status).toBe(404)
    expect((await put(path, 'bytes', ana, { 'X-Checksum-Deploy': 'false' })).status).toBe(200)
  })
})

describe('permissions', () => {
  test('of each role: Guests read, Developers upload, Maintainers delete', async () => {
    const recipe = 'ruled/1.0/_/_'
    for (const [level, read, write, remove] of [
      [0, 404, 404, 404],
      [10, 200, 403, 403],
      [20, 200, 403, 403],
      [30, 200, 200, 403],
      [40, 200, 200, 200],
    ] as const) {
      const who = await world.user(`conan${level}`)
      if (level > 0) await addMember(world, projectId, who.id, level)
      await uploadRecipe(recipe)
      await uploadPackage(recipe)
      for (const path of [
        `${recipeAt(recipe)}/latest`,
        `${recipeAt(recipe)}/revisions`,
        `${recipeAt(recipe)}/search`,
        `${revisionAt(recipe)}/files`,
        `${revisionAt(recipe)}/search`,
        `${packageAt(recipe)}/latest`,
        `${packageAt(recipe)}/revisions`,
        `${packageAt(recipe)}/revisions/${P1}/files`,
        `${packageAt(recipe)}/revisions/${P1}/files/conaninfo.txt`,
      ]) {
        expect([level, path, (await who.get(path)).status]).toEqual([level, path, read])
      }
      const sent = await put(`${revisionAt(`by${level}/1.0/_/_`)}/files/conanfile.py`, 'x', who)
      expect([level, sent.status]).toEqual([level, write])
      for (const path of [
        `${packageAt(recipe)}/revisions/${P1}`,
        `${revisionAt(recipe)}/packages`,
        revisionAt(recipe),
      ]) {
        expect([level, path, (await who.delete(path)).status]).toEqual([level, path, remove])
      }
      if (remove !== 200) await ana.delete(revisionAt(recipe))
    }
  })

  test('of who has not signed in: a challenge, whatever is asked', async () => {
    await uploadRecipe('secret/1.0/_/_')
    for (const recipe of ['secret/1.0/_/_', 'nothing/1.0/_/_']) {
      for (const [method, path] of [
        ['GET', `${recipeAt(recipe)}/latest`],
        ['GET', `${revisionAt(recipe)}/files/conanfile.py`],
        ['PUT', `${revisionAt(recipe)}/files/conanfile.py`],
        ['DELETE', revisionAt(recipe)],
        ['GET', `${at}/users/authenticate`],
        ['GET', `${at}/users/check_credentials`],
      ] as const) {
        const answer = await world.nobody.call(method, path)
        expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
          path,
          401,
          'Basic realm="svc Packages Registry"',
        ])
      }
    }
  })
})

describe('signing in', () => {
  const basic = (secret: string, user = 'any') => ({
    headers: { Authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` },
  })
  const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

  test('gives a token that lasts for ninety days, of this protocol alone', async () => {
    const answer = await world.nobody.get(`${at}/users/authenticate`, basic(ana.token ?? ''))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain'])
    const token = bearer(answer.body)
    await uploadRecipe('signed/1.0/_/_')
    const latest = () => world.nobody.get(`${recipeAt('signed/1.0/_/_')}/latest`, token)
    expect((await latest()).status).toBe(200)
    expect((await world.nobody.get('/user', token)).status).toBe(401)
    world.setNow('2026-08-02T09:59:59.000Z')
    expect((await latest()).status).toBe(200)
    world.setNow('2026-08-02T10:00:00.000Z')
    expect((await latest()).status).toBe(401)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('as a reader does not let one upload, and neither does its token', async () => {
    const secret = await world.token(ana.id, ['read_api'])
    const { body } = await world.nobody.get(`${at}/users/authenticate`, basic(secret))
    const file = `${revisionAt('reader/1.0/_/_')}/files/conanfile.py`
    for (const options of [basic(secret), bearer(body)]) {
      expect((await world.nobody.get(`${at}/users/check_credentials`, options)).body).toBe('ok')
      expect((await world.nobody.put(file, undefined, { raw: 'x', ...options })).status).toBe(403)
    }
    const useless = await world.token(ana.id, ['read_user'])
    expect((await world.nobody.get(`${at}/users/authenticate`, basic(useless))).status).toBe(403)
  })

  test('is asked of nobody who pings, and of nobody who reads a public project', async () => {
    const open = await ana.post('/projects', { name: 'open', visibility: 'public' })
    const root = `/projects/${open.body.id}/packages/conan`
    for (const path of [
      `${root}/v1/ping`,
      '/packages/conan/v1/ping',
      `${at.replace('v2', 'v1')}/ping`,
    ]) {
      const ping = await world.nobody.get(path)
      expect([ping.status, ping.headers.get('x-conan-server-capabilities')]).toEqual([
        200,
        'revisions',
      ])
    }
    const folder = `${root}/v2/conans/open/1.0/_/_`
    for (const name of ['conanfile.py', 'conanmanifest.txt']) {
      await put(`${folder}/revisions/${R1}/files/${name}`)
    }
    expect((await world.nobody.get(`${folder}/latest`)).body.revision).toBe(R1)
    expect((await world.nobody.get(`${root}/v2/conans/search?q=open*`)).body.results).toEqual([
      'open/1.0',
    ])
    expect(
      (await put(`${folder}/revisions/${R2}/files/conanfile.py`, 'x', world.nobody)).status,
    ).toBe(401)
    expect((await world.nobody.delete(`${folder}/revisions/${R1}`)).status).toBe(401)
  })
})
