/** A zip file of these files. */
export async function zipOf(
  files: Readonly<Record<string, string | Buffer>>,
): Promise<Buffer<ArrayBuffer>> {
  const { default: make } = await import('archiver')
  const archive = make('zip')
  for (const [name, content] of Object.entries(files)) archive.append(content, { name })
  void archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.from(Buffer.concat(chunks))
}
