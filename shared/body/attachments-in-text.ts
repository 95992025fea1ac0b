// In canonical JSON quotes within texts are escaped, so only attributes of images look like this.
const attachmentInText = /"attachmentId":"(att_[0-9A-Z]{26})"/g

/** Whether stored lines of a body show an attachment. */
export function showsAttachment(text: string, id: string): boolean {
  return text.includes(`"attachmentId":${JSON.stringify(id)}`)
}

/** The ids of the attachments that stored lines of a body show. */
export function attachmentsIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(attachmentInText), (match) => match[1] as string))
}
