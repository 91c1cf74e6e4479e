import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, digestOf } from '../container-registry/push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
const NAME = 'acme/p/app'
const OCI = 'application/vnd.oci.image.manifest.v1+json'
const OCI_INDEX = 'application/vnd.oci.image.index.v1+json'
const DOCKER = 'application/vnd.docker.distribution.manifest.v2+json'
const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json'
const CONFIG = 'application/vnd.oci.image.config.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'

beforeAll(async () => {
  const groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
})

const v2 = (method: string, path: string, raw?: string, headers = {}, who = ana) =>
  askRegistry(world, who, method, path, raw, headers)
const codeOf = (answer: Reply) => [answer.status, answer.body.errors[0].code]

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

async function blob(content: string, mediaType = LAYER, name = NAME): Promise<Descriptor> {
  const digest = digestOf(content)
  const answer = await v2('POST', `${name}/blobs/uploads/?digest=${digest}`, content)
  expect(answer.status).toBe(201)
  return { mediaType, digest, size: content.length }
}

/** The text of a manifest whose blobs are there. */
async function manifestOf(content: string, more: object = {}, name = NAME): Promise<string> {
  const config = await blob(JSON.stringify({ content }), CONFIG, name)
  const layers = [await blob(`layer of ${content}`, LAYER, name)]
  return JSON.stringify({ schemaVersion: 2, mediaType: OCI, config, layers, ...more })
}

function put(reference: string, text: string, type: string | null = OCI, name = NAME) {
  const headers = type === null ? { 'Content-Type': '' } : { 'Content-Type': type }
  return v2('PUT', `${name}/manifests/${reference}`, text, headers)
}

async function pushed(reference: string, content: string, more: object = {}, name = NAME) {
  const text = await manifestOf(content, more, name)
  const digest = digestOf(text)
  const answer = await put(reference === '' ? digest : reference, text, OCI, name)
  expect(answer.status).toBe(201)
  return {
    text,
    digest,
    answer,
    descriptor: { mediaType: OCI, digest, size: Buffer.byteLength(text) },
  }
}

const indexOf = (manifests: readonly object[], more: object = {}) =>
  JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests, ...more })
const statusOf = async (reference: string, name = NAME) =>
  (await v2('GET', `${name}/manifests/${reference}`)).status

describe('a manifest', () => {
  test('is answered byte for byte, by its tag and by its digest', async () => {
    const text = (await manifestOf('exact')).replaceAll(',', ', \n')
    const digest = digestOf(text)
    const stored = await put('exact', text)
    expect(stored.status).toBe(201)
    expect(Object.fromEntries(stored.headers)).toMatchObject({
      location: `${world.ctx.config.externalUrl}/v2/${NAME}/manifests/${digest}`,
      'docker-content-digest': digest,
    })
    expect(stored.headers.get('oci-subject')).toBeNull()
    for (const reference of ['exact', digest]) {
      const got = await fetch(`${world.url}/v2/${NAME}/manifests/${reference}`, {
        headers: { Authorization: `Bearer ${ana.token}`, Accept: 'text/plain' },
      })
      expect([got.status, await got.text()]).toEqual([200, text])
      expect(Object.fromEntries(got.headers)).toMatchObject({
        'content-type': OCI,
        'content-length': String(text.length),
        'docker-content-digest': digest,
        etag: `"${digest}"`,
      })
      const head = await v2('HEAD', `${NAME}/manifests/${reference}`)
      expect([head.status, head.body, head.headers.get('content-length')]).toEqual([
        200,
        '',
        String(text.length),
      ])
      const known = { 'If-None-Match': `"${digest}"` }
      expect((await v2('GET', `${NAME}/manifests/${reference}`, undefined, known)).status).toBe(304)
    }
  })

  test('is stored under a digest that is its own, and under no other', async () => {
    const text = await manifestOf('by digest')
    expect((await put(digestOf(text), text)).status).toBe(201)
    expect(codeOf(await put(digestOf('other'), text))).toEqual([400, 'DIGEST_INVALID'])
    const tags = (await v2('GET', `${NAME}/tags/list`)).body.tags
    expect(tags).not.toContain(digestOf(text))
  })

  test.each([
    ['an image of Docker', DOCKER, DOCKER],
    ['an image whose header says no type', DOCKER, null],
    ['an image whose header says JSON', OCI, 'application/json'],
    ['an image whose header has parameters', OCI, `${OCI}; charset=utf-8`],
  ])('%s is accepted, and served with its type', async (what, mediaType, type) => {
    const text = JSON.stringify({ ...JSON.parse(await manifestOf(what)), mediaType })
    expect((await put('typed', text, type)).status).toBe(201)
    const { headers } = await v2('HEAD', `${NAME}/manifests/typed`)
    expect([headers.get('content-type'), headers.get('docker-content-digest')]).toEqual([
      mediaType,
      digestOf(text),
    ])
  })

  test('that says no type itself is what the header says', async () => {
    const { mediaType: _, ...rest } = JSON.parse(await manifestOf('untyped'))
    expect((await put('untyped', JSON.stringify(rest), OCI)).status).toBe(201)
    expect((await v2('HEAD', `${NAME}/manifests/untyped`)).headers.get('content-type')).toBe(OCI)
    expect(codeOf(await put('untyped', JSON.stringify(rest), null))).toEqual([
      400,
      'MANIFEST_INVALID',
    ])
  })

  test('may name layers that are elsewhere for good', async () => {
    const mediaType = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'
    const foreign = {
      mediaType,
      digest: digestOf('foreign'),
      size: 7,
      urls: ['https://example.com/x'],
    }
    const config = await blob('{"os":"windows"}', CONFIG)
    const text = (layers: object[]) =>
      JSON.stringify({ schemaVersion: 2, mediaType: DOCKER, config, layers })
    expect((await put('foreign', text([foreign]), DOCKER)).status).toBe(201)
    const local = { ...foreign, mediaType: LAYER }
    expect(codeOf(await put('local', text([local]), DOCKER))).toEqual([
      404,
      'MANIFEST_BLOB_UNKNOWN',
    ])
    const nowhere = { ...foreign, urls: [] }
    expect((await put('nowhere', text([nowhere]), DOCKER)).status).toBe(404)
  })

  test.each([
    ['is no object', '[]'],
    ['is empty', ''],
    ['is of schema 1', '{"schemaVersion":1,"name":"x","tag":"y","fsLayers":[]}'],
    ['has no layers', `{"schemaVersion":2,"mediaType":"${OCI}","config":{}}`],
    [
      'has layers that are no list',
      `{"schemaVersion":2,"mediaType":"${OCI}","config":{},"layers":{}}`,
    ],
    ['has an index without manifests', `{"schemaVersion":2,"mediaType":"${OCI_INDEX}"}`],
    ['is of a type that nobody knows', '{"schemaVersion":2,"mediaType":"text/html","layers":[]}'],
  ])('that %s is refused', async (_what, text) => {
    expect(codeOf(await put('refused', text, 'application/json'))).toEqual([
      400,
      'MANIFEST_INVALID',
    ])
    expect(await statusOf('refused')).toBe(404)
  })

  test.each([
    ['a digest of another algorithm', { digest: `sha512:${'a'.repeat(128)}`, size: 1 }],
    ['a digest in capitals', { digest: `sha256:${'A'.repeat(64)}`, size: 1 }],
    ['no size', { digest: digestOf('x') }],
    ['a size below nothing', { digest: digestOf('x'), size: -1 }],
    ['a size that is no number', { digest: digestOf('x'), size: '1' }],
    ['a size beyond all bounds', { digest: digestOf('x'), size: 1e300 }],
    ['nothing at all', null],
  ])('that names its configuration with %s is refused', async (_what, config) => {
    const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI, config, layers: [] })
    expect(codeOf(await put('refused', text))).toEqual([400, 'MANIFEST_INVALID'])
  })

  test('with annotations that are no texts, or a subject that is none, is refused', async () => {
    for (const more of [{ annotations: { a: 1 } }, { subject: 'x' }, { subject: null }]) {
      expect(codeOf(await put('refused', await manifestOf('bad', more)))).toEqual([
        400,
        'MANIFEST_INVALID',
      ])
    }
  })

  test('under a type that it is not is refused', async () => {
    const answer = await put('refused', await manifestOf('typed'), DOCKER)
    expect(codeOf(answer)).toEqual([400, 'MANIFEST_INVALID'])
  })

  test('that names more than two thousand layers, or is too long, is refused', async () => {
    const config = await blob('{}', CONFIG)
    const layer = await blob('one')
    const layers = Array.from({ length: 2001 }, () => layer)
    const many = JSON.stringify({ schemaVersion: 2, mediaType: OCI, config, layers })
    expect(codeOf(await put('many', many))).toEqual([400, 'MANIFEST_INVALID'])
    const most = JSON.stringify({
      schemaVersion: 2,
      mediaType: OCI,
      config,
      layers: layers.slice(1),
    })
    expect((await put('most', most)).status).toBe(201)
    const long = await manifestOf('long', { annotations: { a: 'x'.repeat(4 * 1024 * 1024) } })
    const refused = await put('long', long)
    expect([refused.status, await statusOf('long')]).toEqual([400, 404])
  })

  test('names blobs of its own repository', async () => {
    const text = await manifestOf('elsewhere', {}, 'acme/p/first')
    await blob('something', LAYER, 'acme/p/second')
    const refused = await put('v1', text, OCI, 'acme/p/second')
    expect(codeOf(refused)).toEqual([404, 'MANIFEST_BLOB_UNKNOWN'])
    expect(refused.body.errors[0].message).toContain(JSON.parse(text).config.digest)
    expect((await put('v1', text, OCI, 'acme/p/first')).status).toBe(201)
  })

  test('counts a layer once that it names twice', async () => {
    const text = await manifestOf('twice', {}, 'acme/p/sizes')
    const manifest = JSON.parse(text)
    const [layer] = manifest.layers
    const twice = JSON.stringify({ ...manifest, layers: [layer, layer] })
    expect((await put('twice', twice, OCI, 'acme/p/sizes')).status).toBe(201)
    const at = `/projects/${projectId}/registry/repositories`
    const { id } = (await ana.get(`${at}?per_page=100`)).body.find(
      (one: { name: string }) => one.name === 'sizes',
    )
    const { body } = await ana.get(`${at}/${id}/tags/twice`)
    expect(body.total_size).toBe(manifest.config.size + layer.size + twice.length)
    expect(body.revision).toBe(manifest.config.digest.slice(7))
  })

  test('that is not there is unknown, and a reference that is none is refused', async () => {
    for (const reference of ['none', digestOf('none')]) {
      for (const method of ['GET', 'DELETE']) {
        expect(codeOf(await v2(method, `${NAME}/manifests/${reference}`))).toEqual([
          404,
          'MANIFEST_UNKNOWN',
        ])
      }
    }
    for (const reference of [
      '-a',
      '.a',
      'a%20b',
      'a%2fb',
      'a:b',
      'ä',
      'a'.repeat(129),
      'sha256:abc',
    ]) {
      expect([reference, ...codeOf(await put(reference, await manifestOf('x')))]).toEqual([
        reference,
        400,
        'MANIFEST_INVALID',
      ])
    }
    expect((await put('a'.repeat(128), await manifestOf('x'))).status).toBe(201)
    expect((await put('_A.b-c_9', await manifestOf('x'))).status).toBe(201)
    expect(codeOf(await v2('GET', 'acme/p/unheard/manifests/v1'))).toEqual([404, 'NAME_UNKNOWN'])
  })
})

describe('an index', () => {
  test.each([
    ['an OCI index', OCI_INDEX],
    ['a list of Docker', DOCKER_LIST],
  ])('%s names manifests that are there, and itself may be named', async (what, type) => {
    const one = await pushed('', `${what} one`)
    const two = await pushed('', `${what} two`)
    const platform = { architecture: 'arm64', os: 'linux' }
    const text = JSON.stringify({
      schemaVersion: 2,
      mediaType: type,
      manifests: [{ ...one.descriptor, platform }, two.descriptor],
    })
    expect((await put('multi', text, type)).status).toBe(201)
    expect((await v2('HEAD', `${NAME}/manifests/multi`)).headers.get('content-type')).toBe(type)
    const outer = indexOf([{ mediaType: type, digest: digestOf(text), size: text.length }])
    expect((await put('outer', outer, OCI_INDEX)).status).toBe(201)
  })

  test('of a manifest that is not there, or is a blob, is refused', async () => {
    const layer = await blob('no manifest')
    for (const digest of [digestOf('nothing'), layer.digest]) {
      const text = indexOf([{ mediaType: OCI, digest, size: 1 }])
      expect(codeOf(await put('broken', text, OCI_INDEX))).toEqual([404, 'MANIFEST_BLOB_UNKNOWN'])
    }
    expect(await statusOf('broken')).toBe(404)
  })

  test('may be empty, and is its own revision', async () => {
    const text = indexOf([])
    expect((await put('void', text, OCI_INDEX, 'acme/p/void')).status).toBe(201)
    const at = `/projects/${projectId}/registry/repositories`
    const rows = (await ana.get(`${at}?per_page=100`)).body
    const { id } = rows.find((one: { name: string }) => one.name === 'void')
    expect((await ana.get(`${at}/${id}/tags/void`)).body).toMatchObject({
      digest: digestOf(text),
      revision: digestOf(text).slice(7),
      total_size: text.length,
    })
  })

  test('weighs what its images weigh', async () => {
    const name = 'acme/p/weighed'
    const one = await pushed('one', 'weighed', {}, name)
    const text = indexOf([one.descriptor])
    await put('index', text, OCI_INDEX, name)
    const at = `/projects/${projectId}/registry/repositories`
    const rows = (await ana.get(`${at}?per_page=100`)).body
    const { id } = rows.find((row: { name: string }) => row.name === 'weighed')
    const image = (await ana.get(`${at}/${id}/tags/one`)).body.total_size
    const index = (await ana.get(`${at}/${id}/tags/index`)).body.total_size
    expect(index).toBe(image + text.length)
  })
})

describe('tags', () => {
  test('are listed in their order, in pages that lead to the next', async () => {
    const name = 'acme/p/listed'
    const text = await manifestOf('listed', {}, name)
    for (const tag of ['b', 'a', 'B', '1', '_']) await put(tag, text, OCI, name)
    const list = async (query: string) => {
      const { body, headers } = await v2('GET', `${name}/tags/list${query}`)
      return [body.tags, headers.get('link')]
    }
    expect(await list('')).toEqual([['1', 'B', '_', 'a', 'b'], null])
    const at = `/v2/${name}/tags/list`
    expect(await list('?n=2')).toEqual([['1', 'B'], `<${at}?last=B&n=2>; rel="next"`])
    expect(await list('?n=2&last=B')).toEqual([['_', 'a'], `<${at}?last=a&n=2>; rel="next"`])
    expect(await list('?n=2&last=a')).toEqual([['b'], null])
    expect(await list('?n=5')).toEqual([['1', 'B', '_', 'a', 'b'], null])
    expect(await list('?last=C')).toEqual([['_', 'a', 'b'], null])
    expect(await list('?n=0')).toEqual([[], null])
    expect(await list('?n=1000000')).toEqual([['1', 'B', '_', 'a', 'b'], null])
    for (const n of ['-1', 'two', '1.5']) {
      expect(codeOf(await v2('GET', `${name}/tags/list?n=${n}`))).toEqual([
        400,
        'PAGINATION_NUMBER_INVALID',
      ])
    }
  })

  test('are none where only blobs or digests are', async () => {
    await pushed('', 'untagged', {}, 'acme/p/untagged')
    expect((await v2('GET', 'acme/p/untagged/tags/list')).body).toEqual({
      name: 'acme/p/untagged',
      tags: [],
    })
    expect(codeOf(await v2('GET', 'acme/p/unheard/tags/list'))).toEqual([404, 'NAME_UNKNOWN'])
  })

  test('move with a push, and the image before stays under its digest', async () => {
    const first = await pushed('moving', 'first')
    const second = await pushed('moving', 'second')
    const head = await v2('HEAD', `${NAME}/manifests/moving`)
    expect(head.headers.get('docker-content-digest')).toBe(second.digest)
    expect(await statusOf(first.digest)).toBe(200)
    expect((await pushed('moving', 'second')).digest).toBe(second.digest)
  })

  test('go one by one, or all with their image', async () => {
    const name = 'acme/p/deleted'
    const { digest, text } = await pushed('a', 'deleted', {}, name)
    await put('b', text, OCI, name)
    await put('c', text, OCI, name)
    const other = await pushed('other', 'stays', {}, name)
    expect((await v2('DELETE', `${name}/manifests/a`)).status).toBe(202)
    expect(codeOf(await v2('DELETE', `${name}/manifests/a`))).toEqual([404, 'MANIFEST_UNKNOWN'])
    expect([await statusOf('b', name), await statusOf(digest, name)]).toEqual([200, 200])
    expect((await v2('DELETE', `${name}/manifests/${digest}`)).status).toBe(202)
    expect([await statusOf('b', name), await statusOf('c', name)]).toEqual([404, 404])
    expect((await v2('GET', `${name}/tags/list`)).body.tags).toEqual(['other'])
    expect(await statusOf(other.digest, name)).toBe(200)
    expect((await put('a', text, OCI, name)).status).toBe(201)
  })

  test('that many push at once end at one of the images', async () => {
    const texts = await Promise.all(Array.from({ length: 6 }, (_, at) => manifestOf(`raced ${at}`)))
    const answers = await Promise.all(texts.map((text) => put('raced', text)))
    expect(answers.map((one) => one.status)).toEqual(Array(6).fill(201))
    const digest = (await v2('HEAD', `${NAME}/manifests/raced`)).headers.get(
      'docker-content-digest',
    )
    expect(texts.map(digestOf)).toContain(digest)
    for (const text of texts) expect(await statusOf(digestOf(text))).toBe(200)
  })
})

describe('what belongs to a manifest', () => {
  const referrers = (digest: string, query = '', name = NAME) =>
    v2('GET', `${name}/referrers/${digest}${query}`)

  test('says so in its answer, also before that manifest is there', async () => {
    const text = await manifestOf('later')
    const subject = { mediaType: OCI, digest: digestOf(text), size: text.length }
    const signature = await pushed('', 'signature', { subject, artifactType: 'app/sig' })
    expect(signature.answer.headers.get('oci-subject')).toBe(subject.digest)
    const listed = await referrers(subject.digest)
    expect([listed.status, listed.headers.get('content-type')]).toEqual([200, OCI_INDEX])
    expect(listed.body).toEqual({
      schemaVersion: 2,
      mediaType: OCI_INDEX,
      manifests: [{ ...signature.descriptor, artifactType: 'app/sig' }],
    })
    expect((await put('later', text)).status).toBe(201)
    expect((await referrers(subject.digest)).body.manifests).toHaveLength(1)
  })

  test('is listed with its kind and annotations, and found by its kind', async () => {
    const { descriptor } = await pushed('subject', 'subject')
    const subject = descriptor
    const annotations = { 'org.example.note': 'ünïcode', __proto__x: '1' }
    const own = await pushed('', 'own kind', { subject, artifactType: 'app/sbom', annotations })
    const ofConfig = await pushed('', 'kind of the configuration', { subject })
    const index = indexOf([], { subject, artifactType: 'app/index' })
    await put(digestOf(index), index, OCI_INDEX)
    const plain = indexOf([], { subject, annotations: { a: 'b' } })
    await put(digestOf(plain), plain, OCI_INDEX)
    const { manifests } = (await referrers(subject.digest)).body
    expect(manifests).toEqual([
      { ...own.descriptor, artifactType: 'app/sbom', annotations },
      { ...ofConfig.descriptor, artifactType: CONFIG },
      {
        mediaType: OCI_INDEX,
        digest: digestOf(index),
        size: index.length,
        artifactType: 'app/index',
      },
      {
        mediaType: OCI_INDEX,
        digest: digestOf(plain),
        size: plain.length,
        annotations: { a: 'b' },
      },
    ])
    const found = await referrers(subject.digest, `?artifactType=${encodeURIComponent(CONFIG)}`)
    expect(found.headers.get('oci-filters-applied')).toBe('artifactType')
    expect(found.body.manifests).toEqual([manifests[1]])
    expect((await referrers(subject.digest)).headers.get('oci-filters-applied')).toBeNull()
  })

  test('is nothing for what nobody knows, and a digest that is none is refused', async () => {
    const empty = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [] }
    expect((await referrers(digestOf('nobody'))).body).toEqual(empty)
    const unheard = await referrers(digestOf('nobody'), '', 'acme/p/unheard')
    expect([unheard.status, unheard.body]).toEqual([200, empty])
    expect(codeOf(await referrers('latest'))).toEqual([400, 'DIGEST_INVALID'])
  })

  test('is found in pages where there is more than one answer holds, by kind too', async () => {
    const name = 'acme/p/signed'
    const { descriptor, digest } = await pushed('v1', 'signed', {}, name)
    const row = await world.ctx.db
      .selectFrom('container_manifests')
      .selectAll()
      .where('file_sha256', '=', digest.slice(7))
      .executeTakeFirstOrThrow()
    const { id: _, ...values } = row
    const rows = Array.from({ length: 520 }, (_, index) => ({
      ...values,
      file_sha256: digestOf(`signature ${index}`).slice(7),
      subject_sha256: digest.slice(7),
      artifact_type: 'app/old',
    }))
    await world.ctx.db.insertInto('container_manifests').values(rows).execute()
    const newest = await pushed(
      '',
      'newest',
      { subject: descriptor, artifactType: 'app/new' },
      name,
    )
    const found = await referrers(digest, '?artifactType=app/new', name)
    expect(found.body.manifests.map((one: Descriptor) => one.digest)).toEqual([newest.digest])
    const first = await referrers(digest, '?artifactType=app/old', name)
    expect(first.body.manifests).toHaveLength(500)
    const next = /^<\/v2\/(.+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await v2('GET', next)
    expect(second.body.manifests).toHaveLength(20)
    expect([second.headers.get('link'), second.headers.get('oci-filters-applied')]).toEqual([
      null,
      'artifactType',
    ])
  })
})

describe('below /v2', () => {
  test('there is no list of all repositories, and what is not the protocol is not there', async () => {
    for (const path of ['_catalog', `${NAME}/blobs/`, `${NAME}/nothing`, `${NAME}/tags`]) {
      const answer = await v2('GET', path)
      expect([path, answer.status]).toEqual([path, 404])
    }
  })

  test('the first answer says what is spoken here', async () => {
    for (const path of ['', '../v2']) {
      const answer = await v2('GET', path)
      expect([
        answer.status,
        answer.body,
        answer.headers.get('docker-distribution-api-version'),
      ]).toEqual([200, {}, 'registry/2.0'])
    }
  })

  test('is found in pages of four megabytes of annotations, each of which has one at least', async () => {
    const name = 'acme/p/annotated'
    const { digest } = await pushed('v1', 'annotated', {}, name)
    const row = await world.ctx.db
      .selectFrom('container_manifests')
      .selectAll()
      .where('file_sha256', '=', digest.slice(7))
      .executeTakeFirstOrThrow()
    const { id: _id, ...values } = row
    const sizes = [1, 1, 1, 1, 1, 5, 1]
    const hashes = sizes.map((_, n) => digestOf(`note ${n}`))
    for (const [n, size] of sizes.entries()) {
      const annotations = JSON.stringify({ n: 'x'.repeat(size * 1_000_000) })
      const own = { file_sha256: hashes[n]?.slice(7) ?? '', subject_sha256: digest.slice(7) }
      await world.ctx.db
        .insertInto('container_manifests')
        .values({ ...values, ...own, annotations })
        .execute()
    }
    const pages: string[][] = []
    for (let at: string | undefined = `${name}/referrers/${digest}`; at !== undefined; ) {
      const page: Reply = await v2('GET', at)
      pages.push(page.body.manifests.map((one: Descriptor) => one.digest))
      at = /^<\/v2\/(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1]
    }
    expect(pages).toEqual([hashes.slice(0, 5), hashes.slice(5, 6), hashes.slice(6)])
  })
})
