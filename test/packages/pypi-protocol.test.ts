import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PackageStatus } from '../../src/store/schema/packages.ts'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'
import { fileForm, plainRequest, uploadPypi } from './publishing.ts'
import { zipOf } from './zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let pypi: string
const GROUP = '/groups/acme/-/packages/pypi'

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
  pypi = `${at}/pypi`
})

const hash = (kind: string, text: string | Buffer) => createHash(kind).update(text).digest('hex')
const upload = (name: string, version: string, fileName?: string, content?: string, more = {}) =>
  uploadPypi(ana, at, { name, version, ...more }, fileName, content)
const JSON_TYPE = 'application/vnd.pypi.simple.v1+json'
const accept = (Accept: string) => ({ headers: { Accept } })
const below = (url: string) => url.slice(url.indexOf('/api/v4') + '/api/v4'.length)

interface Listed {
  readonly filename: string
  readonly url: string
}

async function filesOf(name: string, root = pypi, who = ana): Promise<Listed[]> {
  const { status, body } = await who.get(`${root}/simple/${name}`, accept(JSON_TYPE))
  return status === 200 ? body.files : []
}
const namesOf = async (name: string, root = pypi, who = ana) =>
  (await filesOf(name, root, who)).map((file) => file.filename)

describe('the page of a name', () => {
  test('links to each file with its hash, and says which Python it needs', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const wheel = 'Page_Tool-1.0-py3-none-any.whl'
    await upload('Page_Tool', '1.0', wheel, 'wheel', { requires_python: '>=3.8,<"4" & x' })
    world.setNow('2026-05-04T10:00:01.000Z')
    await upload('page.tool', '1.1', 'page_tool-1.1+local.1.tar.gz', 'source')
    world.setNow('2026-05-04T10:00:00.000Z')
    const root = `${world.ctx.config.externalUrl}/api/v4${pypi}/files`
    const [first, second] = [hash('sha256', 'wheel'), hash('sha256', 'source')]
    const page = await ana.get(`${pypi}/simple/page-tool/`)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.body).toBe(`<!DOCTYPE html>
<html>
  <head>
    <meta name="pypi:repository-version" content="1.0">
    <title>Links for Page_Tool</title>
  </head>
  <body>
    <h1>Links for Page_Tool</h1>
    <a href="${root}/${first}/${wheel}#sha256=${first}" data-requires-python="&gt;=3.8,&lt;&quot;4&quot; &amp; x">${wheel}</a><br>
    <a href="${root}/${second}/page_tool-1.1%2Blocal.1.tar.gz#sha256=${second}">page_tool-1.1+local.1.tar.gz</a><br>
  </body>
</html>
`)
    const json = await ana.get(`${pypi}/simple/page-tool`, accept(JSON_TYPE))
    expect(json.headers.get('content-type')).toBe(JSON_TYPE)
    expect(json.body).toEqual({
      meta: { 'api-version': '1.0' },
      name: 'page-tool',
      files: [
        {
          filename: wheel,
          url: `${root}/${first}/${wheel}`,
          hashes: { sha256: first },
          'requires-python': '>=3.8,<"4" & x',
          size: 5,
          'upload-time': '2026-05-04T10:00:00.000Z',
        },
        {
          filename: 'page_tool-1.1+local.1.tar.gz',
          url: `${root}/${second}/page_tool-1.1%2Blocal.1.tar.gz`,
          hashes: { sha256: second },
          size: 6,
          'upload-time': '2026-05-04T10:00:01.000Z',
        },
      ],
    })
    for (const { url } of await filesOf('page-tool'))
      expect((await ana.get(below(url))).status).toBe(200)
  })

  test.each([
    ['pip', `${JSON_TYPE}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01`, true],
    ['uv', `${JSON_TYPE}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01`, true],
    ['who wants the latest form', 'application/vnd.pypi.simple.latest+json', true],
    ['who wants pages by their new name', 'application/vnd.pypi.simple.v1+html', false],
    ['poetry', '*/*', false],
    ['a browser', 'text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['who wants any JSON', 'application/json', false],
  ])('is JSON or HTML as %s asks for it', async (_who, wanted, isJson) => {
    for (const path of [
      `${pypi}/simple`,
      `${pypi}/simple/page-tool`,
      `${GROUP}/simple/page-tool`,
    ]) {
      const got = await ana.get(path, accept(wanted))
      const type = isJson ? JSON_TYPE : 'text/html; charset=utf-8'
      expect([path, got.status, got.headers.get('content-type')]).toEqual([path, 200, type])
      expect(got.headers.get('vary')).toBe('Origin, Accept, Accept-Encoding')
    }
  })

  test('is not sent again to those who have it, in either form, until something changes', async () => {
    await upload('cached', '1.0')
    for (const form of ['text/html', JSON_TYPE]) {
      const ask = (etag?: string) =>
        ana.get(`${pypi}/simple/cached`, {
          headers: { Accept: form, ...(etag ? { 'If-None-Match': etag } : {}) },
        })
      const first = await ask()
      const etag = first.headers.get('etag') ?? ''
      expect((await ask(etag)).status).toBe(304)
      const head = await ana.head(`${pypi}/simple/cached`, accept(form))
      expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag])
      const other = await ana.get(`${pypi}/simple/cached`, {
        headers: {
          Accept: form === JSON_TYPE ? 'text/html' : JSON_TYPE,
          'If-None-Match': etag,
        },
      })
      expect(other.status).toBe(200)
      await upload('cached', form === JSON_TYPE ? '3.0' : '2.0')
      expect((await ask(etag)).status).toBe(200)
    }
  })

  test('has the files of versions that can be used alone', async () => {
    const statuses: readonly PackageStatus[] = [
      'default',
      'hidden',
      'processing',
      'error',
      'deprecated',
    ]
    for (const [index, status] of statuses.entries()) {
      await upload('states', `1.${index}`)
      await world.ctx.db
        .updateTable('packages')
        .set({ status })
        .where('name', '=', 'states')
        .where('version', '=', `1.${index}`)
        .execute()
    }
    await upload('states', '2.0')
    expect(await namesOf('states')).toEqual([
      'states-1.0.tar.gz',
      'states-1.4.tar.gz',
      'states-2.0.tar.gz',
    ])
  })
})

describe('the index', () => {
  test('has each name once, in order, with the address of its page', async () => {
    const made = await ana.post('/projects', {
      name: 'All tools',
      path: 'index',
      namespace_id: groupId,
    })
    const place = `/projects/${made.body.id}/packages`
    for (const [name, version] of [
      ['zeta', '1'],
      ['Alpha.One', '1'],
      ['alpha_one', '2'],
      ['ALPHA-ONE', '3'],
    ] as const) {
      const sent = await uploadPypi(ana, place, { name, version })
      expect(sent.status).toBe(201)
    }
    const root = `${world.ctx.config.externalUrl}/api/v4${place}/pypi/simple`
    for (const path of [`${place}/pypi/simple`, `${place}/pypi/simple/`]) {
      const page = (await ana.get(path)).body
      expect(page).toContain('<title>Links for All tools</title>')
      expect(
        [...page.matchAll(/<a href="([^"]+)">([^<]+)</g)].map((one) => [one[1], one[2]]),
      ).toEqual([
        [`${root}/alpha-one/`, expect.stringMatching(/^alpha[._-]one$/i)],
        [`${root}/zeta/`, 'zeta'],
      ])
      const json = await ana.get(path, accept(JSON_TYPE))
      expect(json.body).toEqual({
        meta: { 'api-version': '1.0' },
        projects: [{ name: expect.stringMatching(/^alpha[._-]one$/i) }, { name: 'zeta' }],
      })
    }
    const inQuery = await world.nobody.get(`${place}/pypi/simple/?private_token=${ana.token}`)
    expect([inQuery.status, inQuery.body.includes(ana.token)]).toEqual([200, false])
    const empty = (await createProject(ana, 'empty', { namespace_id: groupId })).id
    const none = await ana.get(`/projects/${empty}/packages/pypi/simple`, accept(JSON_TYPE))
    expect(none.body.projects).toEqual([])
  })

  test('of a group has the names of the projects that the caller may read', async () => {
    const bob = await world.user('bob')
    await addMember(world, projectId, bob.id, 10)
    const names = async (who: Caller) =>
      (await who.get(`${GROUP}/simple`, accept(JSON_TYPE))).body.projects.map(
        (one: { name: string }) => one.name,
      )
    expect(await names(ana)).toContain('zeta')
    expect(await names(bob)).not.toContain('zeta')
    expect(await names(bob)).toContain('cached')
    const page = (await bob.get(`${GROUP}/simple/`)).body
    const root = `${world.ctx.config.externalUrl}/api/v4${GROUP}/simple`
    expect(page).toContain(`<a href="${root}/cached/">cached</a>`)
    expect(page).toContain('<h1>Links for Acme</h1>')
  })
})

describe('names', () => {
  test('are one in all their forms, for uploads, pages and rules about what is there', async () => {
    await upload('Form.Name', '1.0', 'Form.Name-1.0.tar.gz')
    await upload('form_name', '2.0', 'form_name-2.0.tar.gz')
    await upload('FORM--NAME', '3.0', 'form_name-3.0.tar.gz')
    const wanted = ['Form.Name-1.0.tar.gz', 'form_name-2.0.tar.gz', 'form_name-3.0.tar.gz']
    for (const form of ['form-name', 'Form.Name', 'FORM__NAME', 'form.-_name', 'form%2ename'])
      for (const root of [pypi, GROUP]) expect(await namesOf(form, root)).toEqual(wanted)
    const again = await upload('form.name', '1.0.0', 'Form.Name-1.0.tar.gz')
    expect(again.status).toBe(400)
    const listed = (await ana.get(`${at}?package_type=pypi&package_name=form`)).body
    const shown = (await ana.get(`${at}/${listed[0].id}`)).body
    expect(shown.versions.map((one: { version: string }) => one.version)).toEqual(['3.0', '2.0'])
  })

  test('have one version in all its forms, which has the files of all', async () => {
    await upload('versions', '1.0', 'versions-1.0.tar.gz')
    await upload('versions', '1.0.0', 'versions-1.0.0-py3-none-any.whl')
    await upload('versions', 'v1', 'versions-1.zip')
    const listed = (await ana.get(`${at}?package_type=pypi&package_name=versions`)).body
    expect(listed.map((one: { version: string }) => one.version)).toEqual(['1.0'])
    expect(await namesOf('versions')).toHaveLength(3)
  })

  test.each([
    '-x',
    'x-',
    '.x',
    'x y',
    'a/b',
    '..',
    'caf\u00e9',
    '\u0430cme',
    'x'.repeat(256),
    'x\n',
  ])('that are none are refused: %j', async (name) => {
    const refused = await upload(name, '1.0', 'x-1.0.tar.gz')
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: 'Validation failed: Name is invalid' },
    ])
  })

  test.each(['1.0-', 'latest', '1.0 beta', '1..0', '1.0+', '..', `1.${'9'.repeat(130)}`])(
    'do not have versions that are none: %j',
    async (version) => {
      const refused = await upload('noversion', version, 'noversion-1.0.tar.gz')
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: 'Validation failed: Version is invalid' },
      ])
    },
  )

  test.each([
    '../noname-1.0.tar.gz',
    'noname-1.0.tar.gz/',
    'noname-1..0.tar.gz',
    'noname-1.0',
    'noname-1.0.tar.gz\u0000',
    'noname-caf\u00e9-1.0.tar.gz',
    'noname.tar.gz',
    'noname2-1.0.tar.gz',
    'noname-plugin-1.0.tar.gz',
    'noname.plugin-1.0-py3-none-any.whl',
    `noname-${'1'.repeat(250)}.tar.gz`,
    '.noname-1.0.tar.gz',
  ])('do not have files that are called %j', async (fileName) => {
    const sent = await upload('noname', '1.0', fileName)
    // The form itself keeps nothing but the last part of a path.
    expect([201, 400]).toContain(sent.status)
    const kept = await namesOf('noname')
    expect(kept.filter((name) => name !== 'noname-1.0.tar.gz')).toEqual([])
  })
})

describe('an upload', () => {
  async function send(form: FormData, who = ana, path = pypi): Promise<Reply> {
    return await who.post(path, undefined, { raw: form })
  }

  test('keeps what its form says of the package, cut where it is too long, and lets the rest be', async () => {
    const long = {
      requires_python: `>=3,<${'4'.repeat(300)}`,
      summary: 's'.repeat(300),
      description: 'd'.repeat(5000),
      keywords: 'k'.repeat(2000),
      author_email: 'e'.repeat(3000),
      metadata_version: '2.1'.repeat(10),
      description_content_type: 'text/markdown'.repeat(20),
    }
    const form = fileForm('content', 'long_one-1.0.tar.gz', 'bytes', {
      ':action': 'file_upload',
      name: 'long-one',
      version: '1.0',
      filetype: 'sdist',
      pyversion: 'source',
      home_page: 'https://example.com',
      ...long,
    })
    form.append('classifiers', 'A')
    form.append('classifiers', 'B')
    form.set('gpg_signature', new Blob(['sig']), 'long_one-1.0.tar.gz.asc')
    const sent = await send(form)
    expect([sent.status, sent.body]).toEqual([201, { message: '201 Created' }])
    const [file] = await filesOf('long-one')
    expect(file).toMatchObject({ 'requires-python': long.requires_python.slice(0, 255) })
    expect(await namesOf('long-one')).toEqual(['long_one-1.0.tar.gz'])
    const { content } = await world.ctx.db
      .selectFrom('package_metadata')
      .innerJoin('packages', 'packages.id', 'package_metadata.package_id')
      .select('content')
      .where('name', '=', 'long-one')
      .executeTakeFirstOrThrow()
    const lengths = Object.entries(JSON.parse(content)).map(([key, text]) => [
      key,
      String(text).length,
    ])
    expect(Object.fromEntries(lengths)).toEqual({
      requires_python: 255,
      metadata_version: 16,
      author_email: 2048,
      description: 4000,
      description_content_type: 128,
      summary: 255,
      keywords: 1024,
    })
  })

  test('may have its file before its fields, and the address a slash at its end', async () => {
    const form = new FormData()
    form.set('content', new Blob(['bytes']), 'order-1.0.tar.gz')
    form.set('version', '1.0')
    form.set('name', 'order')
    expect((await send(form, ana, `${pypi}/`)).status).toBe(201)
    expect(await namesOf('order')).toEqual(['order-1.0.tar.gz'])
  })

  test('of the same file name is refused with the words that twine looks for, whatever it holds', async () => {
    await upload('twice', '1.0')
    for (const content of ['bytes of twice-1.0.tar.gz', 'other bytes']) {
      const again = await upload('twice', '1.0', 'twice-1.0.tar.gz', content)
      expect([again.status, again.body]).toEqual([
        400,
        { message: 'Validation failed: File name has already been taken' },
      ])
    }
    for (const file of ['twice-1.0-py3-none-any.whl', 'twice-1.0.zip', 'twice-1.0.tar.gz.asc'])
      expect((await upload('twice', '1.0', file)).status).toBe(201)
    expect(await namesOf('twice')).toHaveLength(4)
    const [row] = (await ana.get(`${at}?package_name=twice`)).body
    const [file] = (await ana.get(`${at}/${row.id}/package_files`)).body
    await ana.delete(`${at}/${row.id}/package_files/${file.id}`)
    expect(await namesOf('twice')).toHaveLength(3)
    expect((await upload('twice', '1.0')).status).toBe(201)
  })

  test('of one file by several at once is one of theirs, whole', async () => {
    const texts = ['one', 'two', 'three', 'four', 'five']
    const replies = await Promise.all(
      texts.map((text) => upload('raced', '1.0', 'raced-1.0.tar.gz', text)),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400, 400])
    const won = texts[replies.findIndex((reply) => reply.status === 201)] ?? ''
    const files = await filesOf('raced')
    expect(files).toMatchObject([{ hashes: { sha256: hash('sha256', won) } }])
    expect((await ana.get(below(files[0]?.url ?? ''))).body).toBe(won)
  })

  test('is compared with the hashes that it came with', async () => {
    const text = 'hashed'
    const good = {
      md5_digest: hash('md5', text).toUpperCase(),
      sha256_digest: hash('sha256', text).toUpperCase(),
      blake2_256_digest: 'x',
    }
    expect((await upload('hashed', '1.0', undefined, text, good)).status).toBe(201)
    const refused = async (more: object) => {
      const { status, body } = await upload('hashed', '2.0', undefined, text, more)
      return [status, body.message.replace('400 Bad request - ', '')]
    }
    const other = hash('sha256', 'other')
    expect(await refused({ sha256_digest: other })).toEqual([
      400,
      'sha256_digest does not match the file',
    ])
    expect(await refused({ sha256_digest: `${other}0` })).toEqual([400, 'sha256_digest is invalid'])
    expect(await refused({ md5_digest: hash('md5', 'other') })).toEqual([
      400,
      'md5_digest does not match the file',
    ])
    expect(await refused({ md5_digest: 'g'.repeat(32) })).toEqual([400, 'md5_digest is invalid'])
    expect(await namesOf('hashed')).toEqual(['hashed-1.0.tar.gz'])
    const empty = { md5_digest: '', sha256_digest: '' }
    expect((await upload('hashed', '3.0', undefined, text, empty)).status).toBe(201)
  })

  test('says what is missing in it', async () => {
    const refused = async (form: FormData) => {
      const { status, body } = await send(form)
      return [status, body.message]
    }
    const fields = { name: 'lacking', version: '1.0' }
    const lacking = (name: string) => {
      const form = fileForm('content', 'lacking-1.0.tar.gz', 'x', fields)
      form.delete(name)
      return form
    }
    for (const name of ['name', 'version', 'content'])
      expect(await refused(lacking(name))).toEqual([400, `400 Bad request - ${name} is missing`])
    expect(await refused(fileForm('content', 'lacking-1.0.tar.gz', '', fields))).toEqual([
      400,
      '400 Bad request - content is missing',
    ])
    expect(await refused(fileForm('file', 'lacking-1.0.tar.gz', 'x', fields))).toEqual([
      400,
      '400 Bad request - content is missing',
    ])
    const asField = lacking('content')
    asField.set('content', 'x')
    expect(await refused(asField)).toEqual([400, '400 Bad request - content is missing'])
    expect(await namesOf('lacking')).toEqual([])
  })
})

describe('a file', () => {
  test('is downloaded by its hash and its name together, from its project and its group', async () => {
    await upload('got', '1.0', 'got-1.0.tar.gz', 'got it')
    const sha256 = hash('sha256', 'got it')
    for (const root of [pypi, GROUP]) {
      const path = `${root}/files/${sha256}/got-1.0.tar.gz`
      const { status, body, headers } = await ana.get(path)
      expect([status, body]).toEqual([200, 'got it'])
      expect(headers.get('content-type')).toBe('application/octet-stream')
      expect(headers.get('content-disposition')).toBe('attachment; filename="got-1.0.tar.gz"')
      expect(headers.get('etag')).toBe(`"${sha256}"`)
      const upper = `${root}/files/${sha256.toUpperCase()}/got-1.0.tar.gz`
      expect((await ana.get(upper)).status).toBe(200)
      const head = await ana.head(path)
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '6'])
      const part = await ana.get(path, { headers: { Range: 'bytes=-2' } })
      expect([part.status, part.body]).toEqual([206, 'it'])
      for (const wrong of [
        `${sha256}/got-2.0.tar.gz`,
        `${sha256}/GOT-1.0.tar.gz`,
        `${hash('sha256', 'x')}/got-1.0.tar.gz`,
        `${sha256.slice(1)}/got-1.0.tar.gz`,
        `${sha256}/got-1.0.tar.gz.metadata`,
        'x/got-1.0.tar.gz',
      ]) {
        const missing = await ana.get(`${root}/files/${wrong}`)
        expect([wrong, missing.status, missing.body]).toEqual([
          wrong,
          404,
          { message: '404 Package file Not Found' },
        ])
      }
    }
    const other = (await createProject(ana, 'not-got', { namespace_id: groupId })).id
    const elsewhere = `/projects/${other}/packages/pypi/files/${sha256}/got-1.0.tar.gz`
    expect((await ana.get(elsewhere)).status).toBe(404)
  })

  test('that was deleted, or whose package was, is on no page and at no address', async () => {
    await upload('leaving', '1.0', 'leaving-1.0.tar.gz', 'one')
    await upload('leaving', '2.0', 'leaving-2.0.tar.gz', 'two')
    const [one, two] = await filesOf('leaving')
    const [first, second] = (await ana.get(`${at}?package_name=leaving&order_by=version`)).body
    const [file] = (await ana.get(`${at}/${first.id}/package_files`)).body
    expect((await ana.delete(`${at}/${first.id}/package_files/${file.id}`)).status).toBe(204)
    expect(await namesOf('leaving')).toEqual(['leaving-2.0.tar.gz'])
    expect((await ana.get(below(one?.url ?? ''))).status).toBe(404)
    expect((await ana.delete(`${at}/${second.id}`)).status).toBe(204)
    expect((await ana.get(below(two?.url ?? ''))).status).toBe(404)
    expect((await ana.get(`${pypi}/simple/leaving`)).status).toBe(404)
    expect((await ana.get(`${GROUP}/simple/leaving`)).status).toBe(404)
  })

  test('of a large wheel has its metadata beside it, which goes as it goes', async () => {
    const text = 'Metadata-Version: 2.1\nName: meta\nVersion: 1.0\nRequires-Python: >=3.9\n\nText'
    const wheel = await zipOf({
      'meta.dat': randomBytes(120_000),
      'meta-1.0.dist-info/METADATA': text,
    })
    const sent = await uploadPypi(
      ana,
      at,
      { name: 'meta', version: '1.0' },
      'meta-1.0-py3-none-any.whl',
      wheel,
    )
    expect(sent.status).toBe(201)
    const sha256 = hash('sha256', wheel)
    const core = hash('sha256', text)
    expect(await filesOf('meta')).toMatchObject([
      { 'core-metadata': { sha256: core }, 'requires-python': '>=3.9' },
    ])
    const page = (await ana.get(`${pypi}/simple/meta`)).body
    expect(page).toContain(` data-core-metadata="sha256=${core}">`)
    for (const root of [pypi, GROUP]) {
      const path = `${root}/files/${sha256}/meta-1.0-py3-none-any.whl.metadata`
      const got = await ana.get(path)
      expect([got.status, got.body, got.headers.get('content-type')]).toEqual([
        200,
        text,
        'text/plain; charset=utf-8',
      ])
      const known = { headers: { 'If-None-Match': `"${core}"` } }
      expect((await ana.get(path, known)).status).toBe(304)
      expect((await ana.head(path)).headers.get('content-length')).toBe(String(text.length))
      expect((await world.nobody.get(path)).status).toBe(401)
    }
    const [row] = (await ana.get(`${at}?package_name=meta`)).body
    await ana.delete(`${at}/${row.id}`)
    const gone = await ana.get(`${pypi}/files/${sha256}/meta-1.0-py3-none-any.whl.metadata`)
    expect(gone.status).toBe(404)
  })
})

describe('one name in several projects of a group', () => {
  test('has the files of all that the caller may read, each at the address of its project', async () => {
    const made = await ana.post('/projects', { name: 'second', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    await upload('shared', '1.0', 'shared-1.0.tar.gz', 'of p')
    await uploadPypi(
      ana,
      place,
      { name: 'Shared', version: '2.0' },
      'shared-2.0.tar.gz',
      'of second',
    )
    const files = await filesOf('shared', GROUP)
    expect(files.map((file) => file.filename)).toEqual(['shared-1.0.tar.gz', 'shared-2.0.tar.gz'])
    expect(files[0]?.url).toContain(`/api/v4${pypi}/files/`)
    expect(files[1]?.url).toContain(`/api/v4${place}/pypi/files/`)
    const bob = await world.user('shared-bob')
    await addMember(world, made.body.id, bob.id, 10)
    expect(await namesOf('shared', GROUP, bob)).toEqual(['shared-2.0.tar.gz'])
    const path = `${GROUP}/files/${hash('sha256', 'of p')}/shared-1.0.tar.gz`
    expect((await bob.get(path)).status).toBe(404)
    expect((await ana.get(path)).body).toBe('of p')
    await ana.put(`/projects/${made.body.id}`, { package_registry_access_level: 'disabled' })
    expect(await namesOf('shared', GROUP)).toEqual(['shared-1.0.tar.gz'])
  })
})

test('odd addresses are nothing', async () => {
  for (const path of [
    'simple/..%2f..%2fgeneric',
    'simple/%2e%2e',
    'simple/x%00',
    'simple/%ff',
    'simple/%20',
    `simple/${'n'.repeat(300)}`,
    'files/../simple',
    `files/${'0'.repeat(64)}/..%2f..%2fx`,
    `files/${'0'.repeat(65)}/x-1.0.tar.gz`,
    'simple/cached/x',
  ]) {
    const { status } = await plainRequest(world, ana, 'GET', `${pypi}/${path}`)
    expect([path, [400, 404].includes(status)]).toEqual([path, true])
  }
  for (const [method, path] of [
    ['POST', '/simple'],
    ['PUT', ''],
    ['DELETE', '/simple/cached'],
  ] as const)
    expect((await ana.call(method, pypi + path)).status).toBe(405)
})
