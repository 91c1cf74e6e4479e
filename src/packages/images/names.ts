import { imageProblem } from './problem.ts'

const part = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const digestForm = /^sha256:([0-9a-f]{64})$/

/** Whether a name fits the distribution specification; its pieces are short, so that no expression runs long. */
export function isImageName(name: string): boolean {
  const parts = name.split('/')
  return name.length <= 255 && parts.every((one) => one.length <= 128 && part.test(one))
}

/** What a reference names: a manifest by the hash of its bytes, or a tag. */
export type Reference = { readonly sha256: string } | { readonly tag: string }

export function readReference(text: string): Reference {
  const [, sha256] = digestForm.exec(text) ?? []
  if (sha256 !== undefined) return { sha256 }
  if (tagForm.test(text)) return { tag: text }
  throw imageProblem('MANIFEST_INVALID', 400, 'the reference is invalid')
}

/** The hash of a digest; other algorithms are not offered. */
export function readDigest(text: string): string {
  const [, sha256] = digestForm.exec(text) ?? []
  if (sha256 === undefined) throw imageProblem('DIGEST_INVALID', 400, 'the digest is no sha256')
  return sha256
}

export function digestOf(sha256: string): string {
  return `sha256:${sha256}`
}
