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

/** The files of a zip file, by their names. */
export async function filesOfZip(content: Buffer): Promise<Readonly<Record<string, string>>> {
  const { fromBuffer } = await import('yauzl')
  return await new Promise((resolve, reject) => {
    fromBuffer(content, { lazyEntries: true }, (failed, zip) => {
      if (failed) return reject(failed)
      const files: Record<string, string> = {}
      zip.on('error', reject)
      zip.on('end', () => resolve(files))
      zip.on('entry', (entry) => {
        zip.openReadStream(entry, (error, stream) => {
          if (error) return reject(error)
          const chunks: Buffer[] = []
          stream.on('data', (chunk: Buffer) => chunks.push(chunk))
          stream.on('end', () => {
            files[entry.fileName] = Buffer.concat(chunks).toString()
            zip.readEntry()
          })
        })
      })
      zip.readEntry()
    })
  })
}
