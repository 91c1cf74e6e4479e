import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGzip, gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { zipOf } from './zip-file.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string

beforeAll(async () => {
  const project = await createProject(ana, 'p')
  at = `/projects/${project.id}/packages`
})

/** The header of a file in a tarball, with a size that need not be true. */
async function headerOf(name: string, size: number): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name }, '')
  tar.finalize()
  const header = Buffer.from((await buffer(tar)).subarray(0, 512))
  header.write(`${size.toString(8).padStart(11, '0')} `, 124, 'latin1')
  header.write(' '.repeat(8), 148, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** A tarball whose first file has so many zeros, in a few megabytes for each gigabyte. */
async function bomb(bytes: number): Promise<Buffer> {
  const header = await headerOf('package/zeros', bytes)
  const block = Buffer.alloc(1024 * 1024)
  async function* tar() {
    yield header
    for (let left = bytes; left > 0; left -= block.length) yield block
  }
  return await buffer(Readable.from(tar()).pipe(createGzip({ level: 1 })))
}

async function manyEntries(count: number): Promise<Buffer> {
  const header = await headerOf('package/a', 0)
  return gzipSync(Buffer.concat(Array.from({ length: count }, () => header)))
}

async function publishNpm(tarball: Buffer) {
  return await ana.put(`${at}/npm/bad`, await documentOf('bad', '1.0.0', { tarball }))
}

async function publishChart(bytes: Buffer) {
  const form = new FormData()
  form.set('chart', new Blob([Buffer.from(bytes)]), 'chart.tgz')
  return await ana.post(`${at}/helm/api/stable/charts`, undefined, { raw: form })
}

async function tarOf(header: { readonly name: string; readonly linkname?: string }) {
  const tar = pack()
  if (header.linkname === undefined) tar.entry({ name: header.name }, 'x')
  else tar.entry({ ...header, linkname: header.linkname, type: 'symlink' })
  tar.finalize()
  return gzipSync(await buffer(tar))
}

describe('an archive that is refused, in little memory and time', () => {
  test('expands to a gigabyte before its manifest', async () => {
    const tarball = await bomb(1024 ** 3)
    const before = process.memoryUsage().rss
    expect((await publishNpm(tarball)).status).toBe(400)
    expect((await publishChart(tarball)).status).toBe(400)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  }, 60_000)

  test('has two hundred thousand entries', async () => {
    expect((await publishNpm(await manyEntries(200_000))).status).toBe(400)
  }, 60_000)

  test.each([
    ['an absolute path', { name: '/package/package.json' }],
    ['a step up', { name: '../package/package.json' }],
    ['a link', { name: 'package/package.json', linkname: '/etc/passwd' }],
  ])('has its manifest at %s', async (_what, header) => {
    expect((await publishNpm(await tarOf(header))).status).toBe(400)
  })

  test('is a zip file whose manifest is larger than it says', async () => {
    const zip = await zipOf({ 'Bad.nuspec': 'x'.repeat(100_000) })
    const lie = Buffer.from(zip)
    // The size in the directory at the end (PKZIP: central file header, uncompressed size at 24).
    const directory = lie.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
    lie.writeUInt32LE(10, directory + 24)
    const form = new FormData()
    form.set('package', new Blob([lie]), 'bad.nupkg')
    expect((await ana.put(`${at}/nuget`, undefined, { raw: form })).status).toBe(400)
  })
})

test('three hundred installs at once are all answered, each with the same bytes', async () => {
  const published = await ana.put(`${at}/npm/busy`, await documentOf('busy', '1.0.0'))
  expect(published.status).toBe(200)
  const install = async () => {
    const { body } = await ana.get(`${at}/npm/busy`)
    const { tarball, integrity } = body.versions['1.0.0'].dist
    const file = await ana.get(new URL(tarball).pathname.replace('/api/v4', ''))
    return `${file.status} ${integrity}`
  }
  const answers = await Promise.all(Array.from({ length: 300 }, install))
  expect(new Set(answers).size).toBe(1)
  expect(answers[0]).toMatch(/^200 sha512-/)
}, 60_000)
