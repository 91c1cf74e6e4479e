import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** A gzipped tarball of these files. */
export async function tarballOf(
  files: Readonly<Record<string, string | Buffer>>,
): Promise<Buffer<ArrayBuffer>> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.from(gzipSync(Buffer.concat(chunks)))
}
