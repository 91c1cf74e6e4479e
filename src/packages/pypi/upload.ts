import type { Project } from '../../access/subjects.ts'
import { normalName } from '../../base/name-pattern.ts'
import { badRequest, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { publishFile } from '../registry/publish.ts'
import { receiveForm } from '../registry/receive-form.ts'
import { assertFileName, assertPypiName, normalVersion } from './names.ts'
import { describeDistribution } from './wheel-metadata.ts'

/** Longer fields are cut, not refused (docs/contract/C-resolved §3.5). */
const FIELDS = {
  requires_python: 255,
  metadata_version: 16,
  author_email: 2048,
  description: 4000,
  description_content_type: 128,
  summary: 255,
  keywords: 1024,
} as const

/** What `twine upload` sends: a form with the file and what its metadata says. */
export async function uploadDistribution(
  ctx: Ctx,
  project: Project,
  request: Pick<RequestFacts, 'headers' | 'body'>,
): Promise<void> {
  const { fields, file } = await receiveForm(ctx, 'pypi', request, 'content')
  const field = (name: string) => fields.get(name)?.[0]
  const name = required(field('name'), 'name')
  const version = required(field('version'), 'version')
  if (!file || file.kept.size === 0) throw badRequest('content is missing')
  assertPypiName(name)
  const versionKey = normalVersion(version)
  if (versionKey === undefined) throw invalidText('Validation failed: Version is invalid')
  assertFileName(file.name, name)
  assertDigest(field('sha256_digest'), file.kept.sha256, /^[0-9a-f]{64}$/i, 'sha256_digest')
  assertDigest(field('md5_digest'), file.kept.md5, /^[0-9a-f]{32}$/i, 'md5_digest')
  const metadata = Object.fromEntries(
    Object.entries(FIELDS).flatMap(([key, most]) => {
      const value = field(key)
      return value === undefined ? [] : [[key, value.slice(0, most)]]
    }),
  )
  const received = file.kept
  const described = await describeDistribution(ctx, received, file.name, metadata.requires_python)
  await publishFile(ctx, project, {
    type: 'pypi',
    name,
    nameKey: normalName(name),
    version,
    versionKey,
    metadata,
    file: {
      name: file.name,
      received,
      metadata: described,
    },
    // `twine --skip-existing` looks for these words.
    refuse: (found) =>
      found.file && invalidText('Validation failed: File name has already been taken'),
  })
}

function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw badRequest(`${name} is missing`)
  return value
}

function assertDigest(given: string | undefined, found: string, form: RegExp, name: string): void {
  if (given === undefined || given === '') return
  if (!form.test(given)) throw badRequest(`${name} is invalid`)
  if (given.toLowerCase() !== found) throw badRequest(`${name} does not match the file`)
}
