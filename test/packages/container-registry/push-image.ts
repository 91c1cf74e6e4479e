import { createHash } from 'node:crypto'
import type { Caller, Reply, World } from '../../support/world.ts'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

export const digestOf = (bytes: string | Buffer) =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Speaks the distribution protocol as somebody. */
export function askRegistry(
  world: Pick<World, 'nobody'>,
  who: Caller,
  method: string,
  path: string,
  raw?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const pair = Buffer.from(
    `${who.username || (who.header === 'JOB-TOKEN' ? 'svc-ci-token' : 'any')}:${who.token}`,
  ).toString('base64')
  const options = { host: true, headers: { Authorization: `Basic ${pair}`, ...headers } }
  const more = raw === undefined ? {} : { raw }
  return world.nobody.call(method, `/v2/${path}`, undefined, { ...options, ...more })
}

/** Pushes an image of one layer; the answer is that to its manifest. */
export async function pushImage(
  world: Pick<World, 'nobody'>,
  who: Caller,
  name: string,
  tag: string,
  layer = `layer of ${tag}`,
): Promise<{ readonly answer: Reply; readonly digest: string; readonly config: string }> {
  const config = JSON.stringify({ tag })
  const blobs = [config, layer]
  for (const blob of blobs) {
    const path = `${name}/blobs/uploads/?digest=${digestOf(blob)}`
    await askRegistry(world, who, 'POST', path, blob)
  }
  const [first, ...others] = blobs.map((blob) => ({
    mediaType: 'application/octet-stream',
    digest: digestOf(blob),
    size: blob.length,
  }))
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: first,
    layers: others,
  })
  const headers = { 'Content-Type': MANIFEST }
  const path = `${name}/manifests/${tag}`
  const answer = await askRegistry(world, who, 'PUT', path, manifest, headers)
  return { answer, digest: digestOf(manifest), config: digestOf(config) }
}
