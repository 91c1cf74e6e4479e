import { decodePath } from '../http/route.ts'

/** What a URL of Git LFS asks for; `path` is the project's. */
export type LfsRoute =
  | { readonly kind: 'batch' | 'legacy'; readonly path: string }
  | { readonly kind: 'locks'; readonly path: string }
  | { readonly kind: 'verify_locks'; readonly path: string }
  | { readonly kind: 'unlock'; readonly path: string; readonly id: string }
  | { readonly kind: 'object'; readonly path: string; readonly oid: string }
  | {
      readonly kind: 'upload'
      readonly path: string
      readonly oid: string
      readonly size: number
      /** A proxy asks whether the upload would be taken. */
      readonly onlyAsks: boolean
    }

const form = /^\/((?:[^/]+\/)+[^/]+?)\.git\/(info\/lfs\/.*|[a-z0-9]+-lfs\/objects\/.*)$/
const oid = '([0-9a-f]{64})'

/** Reads a raw path (docs/contract/D §3.8); undefined when it is none of LFS's. */
export function readLfsRoute(rawPath: string, folders: readonly string[]): LfsRoute | undefined {
  const [, encoded, rest] = form.exec(rawPath) ?? []
  if (encoded === undefined || rest === undefined) return undefined
  const path = decodePath(encoded)
  if (path === undefined) return undefined
  if (rest.startsWith('info/lfs/')) return readApi(path, rest.slice('info/lfs/'.length))
  const folder = folders.find((one) => rest.startsWith(`${one}/`))
  return folder === undefined ? undefined : readTransfer(path, rest.slice(folder.length + 1))
}

function readApi(path: string, rest: string): LfsRoute | undefined {
  if (rest === 'objects/batch') return { kind: 'batch', path }
  if (rest === 'locks') return { kind: 'locks', path }
  if (rest === 'locks/verify') return { kind: 'verify_locks', path }
  const id = /^locks\/(\d{1,15})\/unlock$/.exec(rest)?.[1]
  if (id !== undefined) return { kind: 'unlock', path, id }
  return /^objects(?:\/[^/]*)?$/.test(rest) ? { kind: 'legacy', path } : undefined
}

function readTransfer(path: string, rest: string): LfsRoute | undefined {
  const object = new RegExp(`^${oid}$`).exec(rest)?.[1]
  if (object !== undefined) return { kind: 'object', path, oid: object }
  const upload = new RegExp(`^${oid}/(\\d{1,15})(/authorize)?$`).exec(rest)
  if (!upload) return undefined
  const [, wanted = '', size, asks] = upload
  return { kind: 'upload', path, oid: wanted, size: Number(size), onlyAsks: asks !== undefined }
}
