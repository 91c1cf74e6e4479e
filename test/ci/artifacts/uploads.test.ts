import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  addCiPlace,
  type CiPlace,
  startJob,
  startPipeline,
  takeJob,
  variablesOf,
  zipOf,
} from '../../support/ci.ts'
import { createGroup } from '../../support/create.ts'
import type { GivenJob } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let place: CiPlace

beforeAll(async () => {
  place = await addCiPlace(world, ana, 'x: {script: make}')
})

const MEBIBYTE = 1024 * 1024
const bytes = (text: string) => new TextEncoder().encode(text)

/** Sends a form as it is; its token in the header. */
function sendForm(job: GivenJob, form: FormData, query = '') {
  return place.runner.call('POST', `/jobs/${job.id}/artifacts${query}`, form, {
    'JOB-TOKEN': job.token,
  })
}

describe('a file that a runner sends', () => {
  test('is kept by its type and format, and shown with its name and size', async () => {
    const { job, at } = await startJob(place)
    const kinds = [
      ['archive', 'zip', 'artifacts.zip'],
      ['metadata', 'gzip', 'metadata.gz'],
      ['junit', 'gzip', 'junit.xml.gz'],
      ['terraform', 'raw', 'tfplan.json'],
      ['cobertura', 'gzip', 'cobertura-coverage.xml.gz'],
      ['a_kind_of_tomorrow', 'raw', 'new.bin'],
    ] as const
    for (const [artifact_type, artifact_format, name] of kinds) {
      const sent = await place.runner.upload(
        job,
        bytes(name),
        { artifact_type, artifact_format },
        name,
      )
      expect([sent.status, sent.body]).toEqual([201, 201])
    }
    await place.runner.append(job, 0, 'done\n')
    const files = kinds.map(([file_type, file_format, filename]) => ({
      file_type,
      file_format,
      filename,
      size: filename.length,
    }))
    expect((await ana.get(at)).body.artifacts).toEqual(files)
    await place.runner.update(job, 'success')
    const { body } = await ana.get(at)
    // The log is one of the files once the job has ended.
    const trace = { file_type: 'trace', file_format: 'raw', filename: 'job.log', size: 5 }
    expect(body.artifacts).toEqual([...files, trace])
    expect(body.artifacts_file).toEqual({ filename: 'artifacts.zip', size: 13 })
    const whole = await ana.get(`${at}/artifacts`)
    expect([whole.status, whole.body]).toEqual([200, 'artifacts.zip'])
    expect(whole.headers.get('content-type')).toBe('application/zip')
    expect(whole.headers.get('content-disposition')).toBe('attachment; filename="artifacts.zip"')
  })

  test.each([
    [{ artifact_type: 'Archive' }, 'artifact_type is invalid'],
    [{ artifact_type: '../x' }, 'artifact_type is invalid'],
    [{ artifact_type: '' }, 'artifact_type is invalid'],
    [{ artifact_type: 'x'.repeat(65) }, 'artifact_type is too long (maximum is 64 characters)'],
    [{ artifact_format: 'tar' }, 'artifact_format does not have a valid value'],
    [{ accessibility: 'all' }, 'accessibility does not have a valid value'],
    [{ expire_in: 'x'.repeat(101) }, 'expire_in is too long (maximum is 100 characters)'],
  ])('is refused as %j, and nothing kept', async (query, error) => {
    const { job, at } = await startJob(place)
    const refused = await place.runner.upload(job, bytes('x'), query)
    expect([refused.status, refused.body]).toEqual([400, { error }])
    expect((await ana.get(at)).body.artifacts).toEqual([])
    await place.runner.update(job, 'success')
  })

  test('says in its form what others say in the query', async () => {
    const { job, at } = await startJob(place)
    const form = new FormData()
    form.append('artifact_type', 'junit')
    form.append('artifact_format', 'raw')
    form.append('file', new Blob([bytes('<testsuite/>')]), 'junit.xml')
    form.append('expire_in', '1 day')
    expect((await sendForm(job, form)).status).toBe(201)
    const wrong = new FormData()
    wrong.append('artifact_format', 'tar')
    wrong.append('file', new Blob([bytes('x')]), 'x')
    const refused = await sendForm(job, wrong)
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'artifact_format does not have a valid value' },
    ])
    expect((await ana.get(at)).body).toMatchObject({
      artifacts: [{ file_type: 'junit', file_format: 'raw', filename: 'junit.xml' }],
      artifacts_expire_at: '2026-05-05T10:00:00.000Z',
    })
    await place.runner.update(job, 'success')
  })

  test('keeps the last part of its name, whatever folders that names', async () => {
    const names = [
      ['a/b/../c.zip', 'c.zip'],
      ['C:\\x\\y.zip', 'y.zip'],
      ['späte Ergebnisse.zip', 'späte Ergebnisse.zip'],
    ]
    for (const [given = '', kept] of names) {
      const { job, at } = await startJob(place)
      const boundary = 'b0undary'
      const raw = [
        `--${boundary}`,
        `Content-Disposition: form-data; name="file"; filename="${given}"`,
        '',
        'content',
        `--${boundary}--`,
        '',
      ].join('\r\n')
      const response = await fetch(`${world.url}/api/v4/jobs/${job.id}/artifacts`, {
        method: 'POST',
        headers: {
          'Content-Type': `multipart/form-data; boundary=${boundary}`,
          'JOB-TOKEN': job.token,
        },
        body: raw,
      })
      expect(response.status).toBe(201)
      expect((await ana.get(at)).body.artifacts_file.filename).toBe(kept)
      await place.runner.update(job, 'success')
    }
  })

  test.each<[string, Record<string, string>, string, number, string]>([
    ['in no form', { 'Content-Type': 'text/plain' }, 'x', 400, 'does not match declared format'],
    ['as JSON', { 'Content-Type': 'application/json' }, '{}', 400, 'does not match declared'],
    [
      'in a form without a boundary',
      { 'Content-Type': 'multipart/form-data' },
      'x',
      400,
      'does not match declared format',
    ],
    [
      'in a form that breaks off',
      { 'Content-Type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nconte',
      400,
      'message body',
    ],
    [
      'in a form that breaks off in a part that nobody reads',
      { 'Content-Type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\nconte',
      400,
      'message body',
    ],
    [
      'under another name',
      { 'Content-Type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\nc\r\n--b--\r\n',
      400,
      'file is missing',
    ],
  ])('that comes %s is refused', async (_, headers, body, status, message) => {
    const { job, at } = await startJob(place)
    const response = await fetch(`${world.url}/api/v4/jobs/${job.id}/artifacts`, {
      method: 'POST',
      headers: { ...headers, 'JOB-TOKEN': job.token },
      body,
    })
    expect([response.status, JSON.stringify(await response.json())]).toEqual([
      status,
      expect.stringContaining(message),
    ])
    expect((await ana.get(at)).body.artifacts).toEqual([])
    await place.runner.update(job, 'success')
  })

  test('is the first of its form only', async () => {
    const { job, at } = await startJob(place)
    const form = new FormData()
    form.append('file', new Blob([bytes('first')]), 'first.zip')
    form.append('file', new Blob([bytes('second')]), 'second.zip')
    form.append('metadata', new Blob([bytes('third')]), 'third.zip')
    expect((await sendForm(job, form)).status).toBe(201)
    expect((await ana.get(at)).body.artifacts).toMatchObject([{ filename: 'first.zip', size: 5 }])
    await place.runner.update(job, 'success')
  })

  test('is taken again when it is the same, and else the first one stays', async () => {
    const { job, at } = await startJob(place)
    expect((await place.runner.upload(job, bytes('one'))).status).toBe(201)
    expect((await place.runner.upload(job, bytes('one'), {}, 'again.zip')).status).toBe(201)
    const other = await place.runner.upload(job, bytes('two'))
    expect([other.status, other.body]).toEqual([
      400,
      { message: '400 Bad request - another artifact of the same type already exists' },
    ])
    await place.runner.update(job, 'success')
    expect((await ana.get(`${at}/artifacts`)).body).toBe('one')
    expect((await ana.get(at)).body.artifacts_file.filename).toBe('artifacts.zip')
  })

  test('is taken while its job is being canceled, and not after its end', async () => {
    const { job, at } = await startJob(place)
    await ana.post(`${at}/cancel`)
    expect((await place.runner.upload(job, bytes('late'))).status).toBe(201)
    await place.runner.update(job, 'failed')
    const refused = await place.runner.upload(job, bytes('late'), { artifact_type: 'junit' })
    expect([refused.status, refused.headers.get('job-status')]).toEqual([403, 'canceled'])
    const asked = await place.runner.mayUpload(job, 1)
    expect([asked.status, asked.headers.get('job-status')]).toEqual([403, 'canceled'])
  })

  test('needs the token of its own job', async () => {
    const one = await startJob(place)
    const two = await startJob(place)
    for (const token of [two.job.token, place.runner.token, ana.token ?? '', '']) {
      const refused = await place.runner.upload({ ...one.job, token }, bytes('x'))
      expect(refused.status).toBe(403)
    }
    expect((await ana.get(one.at)).body.artifacts).toEqual([])
    for (const { job } of [one, two]) await place.runner.update(job, 'success')
  })
})

describe('how large files of a job may be', () => {
  const most = async (to: CiPlace) => {
    const { job } = await startJob(to)
    const { body } = await to.runner.mayUpload(job, 0)
    await to.runner.update(job, 'success')
    return body.MaximumSize / MEBIBYTE
  }

  test('is what the project says, or the nearest group that says it, or the instance', async () => {
    const top = await createGroup(ana, 'top')
    const sub = await createGroup(ana, 'sub', { parent_id: top.id })
    const inside = await addCiPlace(world, ana, 'x: {script: make}')
    await ana.put(`${inside.path}/transfer`, { namespace: sub.id })
    expect(await most(inside)).toBe(100)
    await world.root.put('/application/settings', { max_artifacts_size: 50 })
    expect(await most(inside)).toBe(50)
    const limit = (path: string, max_artifacts_size: number | null) =>
      world.root.put(path, { max_artifacts_size })
    await limit(`/groups/${top.id}`, 40)
    expect(await most(inside)).toBe(40)
    await limit(`/groups/${sub.id}`, 60)
    expect(await most(inside)).toBe(60)
    await limit(inside.path, 2)
    expect(await most(inside)).toBe(2)
    expect(await most(place)).toBe(50)
    await world.root.put('/application/settings', { max_artifacts_size: 100 })
  })

  test('is raised above that of the instance by administrators alone', async () => {
    const group = await createGroup(ana, 'own')
    const refusal = {
      message: '403 Forbidden - max_artifacts_size is above that of the instance',
    }
    const above = { max_artifacts_size: 101 }
    for (const path of [place.path, `/groups/${group.id}`]) {
      const refused = await ana.put(path, above)
      expect([refused.status, refused.body]).toEqual([403, refusal])
      expect((await ana.put(path, { max_artifacts_size: 100 })).status).toBe(200)
      expect((await ana.put(path, { max_artifacts_size: null })).status).toBe(200)
      expect((await world.root.put(path, above)).status).toBe(200)
      // Clients send everything back that they read.
      expect((await ana.put(path, { ...above, description: 'kept' })).status).toBe(200)
      expect((await ana.put(path, { max_artifacts_size: 102 })).status).toBe(403)
    }
    expect(await most(place)).toBe(101)
    expect((await ana.post('/projects', { name: 'new-one', ...above })).status).toBe(403)
    expect((await ana.post('/groups', { name: 'New', path: 'new', ...above })).status).toBe(403)
    await world.root.put(place.path, { max_artifacts_size: null })
  })

  test('is checked before they are sent, and again when they are sent', async () => {
    const small = await addCiPlace(world, ana, 'x: {script: make}', {
      settings: { max_artifacts_size: 1 },
    })
    const { job, at } = await startJob(small)
    expect((await small.runner.mayUpload(job, MEBIBYTE)).status).toBe(200)
    expect((await small.runner.mayUpload(job, MEBIBYTE + 1)).status).toBe(413)
    const large = Buffer.alloc(MEBIBYTE + 1, 1)
    const refused = await small.runner.upload(job, large, { artifact_type: 'junit' })
    expect(refused.status).toBe(413)
    expect((await small.runner.upload(job, large.subarray(1))).status).toBe(201)
    expect((await ana.get(at)).body.artifacts).toMatchObject([{ size: MEBIBYTE }])
    const asked = (body: object) =>
      small.runner.call('POST', `/jobs/${job.id}/artifacts/authorize`, body, {
        'JOB-TOKEN': job.token,
      })
    expect((await asked({})).status).toBe(200)
    expect((await asked({ filesize: -1 })).status).toBe(400)
    expect((await asked({ filesize: 'large' })).status).toBe(400)
  })
})

describe('how long artifacts are kept', () => {
  test.each([
    ['1 week', '2026-05-11T10:00:00.000Z'],
    ['2 hrs 20 min', '2026-05-04T12:20:00.000Z'],
    ['90', '2026-05-04T10:01:30.000Z'],
    ['never', null],
    ['0', null],
    ['no time at all', null],
  ])('is what the runner says: %j', async (expire_in, at) => {
    const started = await startJob(place)
    await place.runner.upload(started.job, bytes(expire_in), { expire_in })
    expect((await ana.get(started.at)).body.artifacts_expire_at).toBe(at)
    await place.runner.update(started.job, 'success')
  })

  test('is what the instance says when the runner says nothing', async () => {
    for (const [setting, at] of [
      ['2 days', '2026-05-06T10:00:00.000Z'],
      ['0', null],
    ]) {
      await world.root.put('/application/settings', { default_artifacts_expire_in: setting })
      const started = await startJob(place)
      await place.runner.upload(started.job, bytes('x'))
      expect((await ana.get(started.at)).body.artifacts_expire_at).toBe(at)
      await place.runner.update(started.job, 'success')
    }
    await world.root.put('/application/settings', { default_artifacts_expire_in: '30 days' })
  })
})

describe('variables that a job reports', () => {
  /** The variables that a job after another gets, which reports a text. */
  async function handedOn(text: string | Buffer, format = 'gzip', use = '{script: make}') {
    const chain = await addCiPlace(
      world,
      ana,
      `a: {stage: build, script: make, variables: {OWN: yes, VERSION: yaml}}\nb: ${use}`,
    )
    await startPipeline(chain)
    const first = await takeJob(chain)
    const report = format === 'gzip' && typeof text === 'string' ? gzipSync(text) : text
    const query = { artifact_type: 'dotenv', artifact_format: format }
    const sent = await chain.runner.upload(first, Buffer.from(report), query, '.env')
    expect(sent.status).toBe(201)
    await chain.runner.finish(first, 'success')
    return variablesOf(await takeJob(chain))
  }

  test('are read line by line, whatever is in a value', async () => {
    const sent = await handedOn(
      [
        'PLAIN=1',
        ' SPACED = two words ',
        `DOUBLE="4 'x'"`,
        "SINGLE='5'",
        'EMPTY=',
        'EQUAL=a=b=c',
        String.raw`BACK=a\nb\"`,
        'HASH=a # b',
        '1ST=yes',
        'TWICE=first',
        'TWICE=last',
        '',
      ].join('\r\n'),
    )
    const found = Object.fromEntries(
      [...sent].filter(([key]) =>
        /^(PLAIN|SPACED|[DE][A-Z]+|SINGLE|BACK|HASH|1ST|TWICE)$/.test(key),
      ),
    )
    expect(found).toEqual({
      PLAIN: '1',
      SPACED: 'two words',
      DOUBLE: `"4 'x'"`,
      SINGLE: "'5'",
      EMPTY: '',
      EQUAL: 'a=b=c',
      BACK: String.raw`a\nb\"`,
      HASH: 'a # b',
      '1ST': 'yes',
      TWICE: 'last',
    })
  })

  test('are letters of whatever encoding, with or without a mark', async () => {
    const text = 'FIRST=Grüße\r\nSECOND=2\r\n'
    const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\uFEFF${text}`),
      utf16,
      Buffer.from(utf16).swap16(),
      Buffer.from(text, 'latin1'),
    ]) {
      const sent = await handedOn(bytes, 'raw')
      expect([sent.get('FIRST'), sent.get('SECOND')]).toEqual(['Grüße', '2'])
    }
  })

  test('are refused whole when a line is none', async () => {
    const chain = await addCiPlace(world, ana, 'a: {stage: build, script: make}\nb: {script: make}')
    await startPipeline(chain)
    const job = await takeJob(chain)
    const query = { artifact_type: 'dotenv', artifact_format: 'raw' }
    const send = (text: string) => chain.runner.upload(job, bytes(text), query, '.env')
    const badKey = "Validation failed: Key can contain only letters, digits and '_'."
    for (const [text, reason] of [
      ['A=1\nnothing', 'Invalid Format'],
      ['A=1\n\nB=2', 'Invalid Format'],
      ['A=1\n# no comment', 'Invalid Format'],
      ['A=1\n# comment=no', badKey],
      ['export A=1', badKey],
      ['A-B=1', badKey],
      ['=1', badKey],
      [`${'K'.repeat(256)}=1`, 'Validation failed: Key is too long (maximum is 255 characters)'],
    ] as const) {
      const { status, body } = await send(text)
      expect([text, status, body.message]).toEqual([text, 400, `400 Bad request - ${reason}`])
    }
    expect((await send('')).status).toBe(201)
    await chain.runner.finish(job, 'success')
    expect(variablesOf(await takeJob(chain)).has('A')).toBe(false)
  })

  test('lie over those of the configuration, and under those of the project', async () => {
    const chain = await addCiPlace(
      world,
      ana,
      'variables: {A: yaml, B: yaml}\na: {stage: build, script: make}\nb: {script: make}',
    )
    await ana.post(`${chain.path}/variables`, { key: 'B', value: 'project' })
    await startPipeline(chain)
    const first = await takeJob(chain)
    const query = { artifact_type: 'dotenv', artifact_format: 'raw' }
    await chain.runner.upload(first, bytes('A=dotenv\nB=dotenv\n'), query)
    await chain.runner.finish(first, 'success')
    const sent = variablesOf(await takeJob(chain))
    expect([sent.get('A'), sent.get('B')]).toEqual(['dotenv', 'project'])
  })

  test('do not reach a job that names other jobs, or needs them without their artifacts', async () => {
    const needless = await handedOn(
      'VERSION=1',
      'raw',
      '{script: make, needs: [{job: a, artifacts: false}]}',
    )
    expect(needless.has('VERSION')).toBe(false)
    const independent = await handedOn('VERSION=1', 'raw', '{script: make, dependencies: []}')
    expect(independent.has('VERSION')).toBe(false)
    const depending = await handedOn('VERSION=1', 'raw', '{script: make, dependencies: [a]}')
    expect(depending.get('VERSION')).toBe('1')
    const needing = await handedOn('VERSION=1', 'raw', '{script: make, needs: [a]}')
    expect(needing.get('VERSION')).toBe('1')
  })

  test('are at most 150, of a report of at most 16 kibibytes that can be unpacked', async () => {
    const linesOf = (length: number) =>
      Array.from({ length }, (_, index) => `V${index}=${index}`).join('\n')
    const chain = await addCiPlace(world, ana, 'a: {script: make}')
    await startPipeline(chain)
    const job = await takeJob(chain)
    const query = { artifact_type: 'dotenv', artifact_format: 'gzip' }
    const send = (bytes: Buffer) => chain.runner.upload(job, bytes, query, '.env')
    // Refused whole: a part of it would mislead the jobs that come after.
    for (const [bytes, text] of [
      [gzipSync(linesOf(151)), 'Dotenv files cannot have more than 150 variables'],
      [
        gzipSync(`A=1\nB=${'b'.repeat(20_000)}`),
        'Dotenv Artifact Too Big. Maximum Allowable Size: 16384',
      ],
      [Buffer.from('A=1'), 'Dotenv Artifact cannot be read'],
    ] as const) {
      const refused = await send(bytes)
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(text)])
    }
    expect((await handedOn(linesOf(150))).get('V149')).toBe('149')
  })
})

describe('artifacts that a job fetches', () => {
  test('come whole, in parts, and not again while they are the same', async () => {
    const chain = await addCiPlace(
      world,
      ana,
      'a: {stage: build, script: make, artifacts: {paths: [o]}}\nb: {script: make}',
    )
    await startPipeline(chain)
    const first = await takeJob(chain)
    const archive = await zipOf({ o: 'content' })
    await chain.runner.upload(first, archive)
    await chain.runner.finish(first, 'success')
    const job = await takeJob(chain)
    const get = (headers: Record<string, string> = {}, query = '') =>
      fetch(`${world.url}/api/v4/jobs/${first.id}/artifacts${query}`, {
        headers: { 'JOB-TOKEN': job.token, ...headers },
      })
    const whole = await get({}, '?direct_download=true')
    expect(whole.status).toBe(200)
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(archive)
    const part = await get({ Range: 'bytes=2-5' })
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      archive.subarray(2, 6),
    ])
    const again = await get({ 'If-None-Match': whole.headers.get('etag') ?? '' })
    expect(again.status).toBe(304)
    const byQuery = await fetch(`${world.url}/api/v4/jobs/${first.id}/artifacts?token=${job.token}`)
    expect(byQuery.status).toBe(200)
    const without = await fetch(`${world.url}/api/v4/jobs/${first.id}/artifacts`)
    expect(without.status).toBe(401)
    // Its own are not there yet, and an unknown job gets the same answer as a forbidden one.
    const own = await chain.runner.call('GET', `/jobs/${job.id}/artifacts`, undefined, {
      'JOB-TOKEN': job.token,
    })
    expect(own.status).toBe(404)
    const none = await chain.runner.call('GET', '/jobs/999999/artifacts', undefined, {
      'JOB-TOKEN': job.token,
    })
    expect(none.status).toBe(403)
  })
})
