import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Ctx } from '../../ctx.ts'
import { signingKey } from '../../identity/oauth/signing-key.ts'
import { isMap, type Value } from '../config/values.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'
import { environmentName, type SentVariable } from './sent-variable.ts'

const LIFETIME_SECONDS = 3600

/** The variables of `id_tokens`: what says to others which job this is, signed with the key of OpenID Connect. */
export async function identityTokens(
  ctx: Ctx,
  loaded: LoadedJob,
  value: Value,
): Promise<SentVariable[]> {
  if (!isMap(value)) return []
  const found: SentVariable[] = []
  for (const [key, given] of Object.entries(value)) {
    const aud = isMap(given) ? audiences(given.aud) : []
    const token = await signFor(ctx, loaded, aud)
    found.push({ key, value: token, public: false, masked: true, file: false, raw: true })
  }
  return found
}

function audiences(value: Value): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((one): one is string => typeof one === 'string')
}

async function signFor(ctx: Ctx, loaded: LoadedJob, aud: readonly string[]): Promise<string> {
  const { key, id } = await signingKey(ctx)
  const now = Math.floor(Date.parse(ctx.now()) / 1000)
  const lifetime = loaded.job.timeout ?? LIFETIME_SECONDS
  return await new SignJWT(claimsOf(loaded))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: id })
    .setIssuer(ctx.config.externalUrl)
    .setSubject(subjectOf(loaded))
    .setAudience(aud.length === 1 ? (aud[0] ?? '') : [...aud])
    .setIssuedAt(now)
    .setNotBefore(now - 5)
    .setExpirationTime(now + lifetime)
    .setJti(randomUUID())
    .sign(key)
}

function subjectOf({ pipeline, project }: LoadedJob): string {
  const type = pipeline.tag === 1 ? 'tag' : 'branch'
  return `project_path:${project.full_path}:ref_type:${type}:ref:${pipeline.ref}`
}

function claimsOf({ job, pipeline, project, user }: LoadedJob): Record<string, unknown> {
  const type = pipeline.tag === 1 ? 'tag' : 'branch'
  const environment = environmentName(job.environment)
  const folder = type === 'tag' ? 'refs/tags' : 'refs/heads'
  return {
    namespace_id: String(project.namespace_id),
    namespace_path: project.namespace_full_path,
    project_id: String(project.id),
    project_path: project.full_path,
    project_visibility: project.visibility,
    user_id: user && String(user.id),
    user_login: user?.username,
    user_email: user?.email,
    pipeline_id: String(pipeline.id),
    pipeline_source: pipeline.source,
    job_id: String(job.id),
    ref: pipeline.ref,
    ref_type: type,
    ref_path: pipeline.ref.startsWith('refs/') ? pipeline.ref : `${folder}/${pipeline.ref}`,
    ref_protected: String(pipeline.protected === 1),
    ...(environment === undefined ? {} : { environment }),
    sha: pipeline.sha,
    runner_environment: 'self-hosted',
  }
}
