import { once } from 'node:events'
import archiver from 'archiver'
import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'bad' })
  path = `/projects/${project.id}`
})

/** The first thing that is wrong with a configuration. */
async function wrongWith(content: string): Promise<string | undefined> {
  const { status, body } = await ana.post(`${path}/ci/lint`, { content })
  expect(status).toBe(200)
  return body.errors[0]
}

describe('a configuration', () => {
  test.each([
    [
      'x:\n  script: y\n  scirpt: z',
      'jobs:x config contains unknown keys: scirpt at line 3, column 3',
    ],
    [
      'default: {imgae: a}\nx: {script: y}',
      'default config contains unknown keys: imgae at line 1, column 11',
    ],
    [
      'workflow:\n  rule: []\nx: {script: y}',
      'workflow config contains unknown keys: rule at line 2, column 3',
    ],
    ['x: {script: y\n', /Invalid configuration format: .* at line 2, column 1/],
  ])('with a mistake is answered with its place: %j', async (content, message) => {
    expect(await wrongWith(content)).toMatch(message)
  })

  test('whose aliases would make a huge value is refused', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level += 1) {
      const before = `*a${level - 1}`
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => before).join(', ')}]`)
    }
    expect(await wrongWith(lines.join('\n'))).toMatch(/Invalid configuration format/)
  })

  test('that is deep, large or no map is refused', async () => {
    expect(await wrongWith('['.repeat(5000))).toMatch(/Invalid configuration format/)
    expect(await wrongWith(`x: {script: "${'y'.repeat(2_500_000)}"}`)).toMatch(/too large/)
    expect(await wrongWith('just text')).toMatch(/Invalid configuration format/)
    const reply = await ana.post(`${path}/ci/lint`, { content: 'x'.repeat(10_000_000) })
    expect(reply.status).toBe(400)
  })

  test('whose files include each other in a circle is refused', async () => {
    commitFiles(project, {
      files: {
        '.svc-ci.yml': 'include: a.yml\nx: {script: y}',
        'a.yml': 'include: b.yml',
        'b.yml': 'include: a.yml',
      },
    })
    const reply = await ana.post(`${path}/pipeline`, { ref: 'main' })
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.body)).toContain('nested includes')
  })

  test('whose conditions make other engines go on for ever is answered at once', async () => {
    const content = `
variables: {TEXT: "${'a'.repeat(5000)}!"}
x: {script: y, rules: [{if: '$TEXT =~ /^(a+)+$/', when: never}, {when: always}]}`
    const begun = performance.now()
    expect(await wrongWith(content)).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  test('of a thousand jobs with needs makes a pipeline whose first jobs wait for runners', async () => {
    const jobs = Array.from({ length: 1000 }, (_, index) =>
      index < 10
        ? `j${index}: {script: y, stage: build}`
        : `j${index}: {script: y, needs: [j${index - 10}]}`,
    )
    commitFiles(project, { files: { '.svc-ci.yml': jobs.join('\n') } })
    const { status, body } = await ana.post(`${path}/pipeline`, { ref: 'main' })
    expect(status).toBe(201)
    const pending = await ana.get(`${path}/pipelines/${body.id}/jobs?scope[]=pending&per_page=100`)
    expect(pending.body).toHaveLength(10)
    expect(pending.headers.get('x-total')).toBe('10')
    await ana.post(`${path}/pipelines/${body.id}/cancel`)
  })
})

describe('an archive of artifacts', () => {
  async function uploaded(bytes: Buffer) {
    commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: y}' } })
    await ana.post(`${path}/pipeline`, { ref: 'main' })
    const runner = await addRunner(world, ana, project.id)
    const job = await runner.request()
    if (!job) throw new Error('no job')
    expect((await runner.upload(job, bytes, { artifact_type: 'archive' })).status).toBe(201)
    await runner.finish(job, 'success')
    return `${path}/jobs/${job.id}/artifacts`
  }

  async function zipOf(fill: (zip: archiver.Archiver) => void): Promise<Buffer> {
    const zip = archiver('zip')
    const chunks: Buffer[] = []
    zip.on('data', (chunk: Buffer) => chunks.push(chunk))
    fill(zip)
    const ended = once(zip, 'end')
    await zip.finalize()
    await ended
    return Buffer.concat(chunks)
  }

  test('gives out no link, and no path that leaves it', async () => {
    const zip = await zipOf((zip) => {
      zip.append('good', { name: 'in.txt' })
      zip.symlink('link', '/etc/passwd')
    })
    const api = await uploaded(zip)
    expect((await ana.get(`${api}/link`)).status).toBe(404)
    expect((await ana.get(`${api}/..%2Fin.txt`)).status).toBe(400)
    expect((await ana.get(`${api}/in.txt`)).body).toBe('good')
  })

  test('with a path that leaves it is downloaded as a whole only', async () => {
    const zip = await zipOf((zip) => zip.append('evil', { name: 'xx/out.txt' }))
    const api = await uploaded(
      Buffer.from(zip.toString('latin1').replaceAll('xx/out.txt', '../out.txt'), 'latin1'),
    )
    expect((await ana.get(`${api}/tree`)).status).toBe(400)
    expect((await ana.get(`${api}/xx/out.txt`)).status).toBe(400)
    expect((await ana.get(api)).status).toBe(200)
  })

  test('that is none is kept, and nothing read out of it', async () => {
    const api = await uploaded(Buffer.from('this is no archive'))
    expect((await ana.get(`${api}/tree`)).status).toBe(400)
    expect((await ana.get(`${api}/a.txt`)).status).toBe(400)
    expect((await ana.get(api)).status).toBe(200)
  })

  test('of more files than anybody lists is downloaded as a whole only', async () => {
    const api = await uploaded(manyEntries(100_001))
    expect((await ana.get(`${api}/tree`)).status).toBe(400)
    expect((await ana.get(`${api}/f0000001`)).status).toBe(400)
  })
})

/** The list of a zip file with so many empty entries. */
function manyEntries(count: number): Buffer {
  const entry = Buffer.alloc(46 + 8)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(20, 6)
  entry.writeUInt16LE(8, 28)
  const list = Buffer.alloc(entry.length * count)
  for (let index = 0; index < count; index += 1) {
    entry.write(`f${String(index).padStart(7, '0')}`, 46, 'latin1')
    entry.copy(list, index * entry.length)
  }
  const end64 = Buffer.alloc(56)
  end64.writeUInt32LE(0x06064b50, 0)
  end64.writeBigUInt64LE(44n, 4)
  end64.writeBigUInt64LE(BigInt(count), 24)
  end64.writeBigUInt64LE(BigInt(count), 32)
  end64.writeBigUInt64LE(BigInt(list.length), 40)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(list.length), 8)
  locator.writeUInt32LE(1, 16)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(0xffff, 8)
  end.writeUInt16LE(0xffff, 10)
  end.writeUInt32LE(0xffffffff, 12)
  end.writeUInt32LE(0xffffffff, 16)
  return Buffer.concat([list, end64, locator, end])
}
