/**
 * Phrases with which models talk about a file before or after it, in their most frequent languages (R271, R296).
 *
 * Invariants
 * P1  A phrase counts only at the start of a line and as whole words; case does not matter.
 */

/** Phrases separated by `|`. */
type Phrases = {
  /** In scripts that separate words by spaces. */
  readonly spaced: readonly string[];
  /** In those without. */
  readonly unspaced: readonly string[];
};

const LEADS: Phrases = {
  spaced: [
    // English
    "Sure|Certainly|Of course|Absolutely|Okay|OK|Here is|Here's|Here are|Below is",
    "Below are|I'll|I will|Let me|As requested",
    // Spanish
    'Claro|Por supuesto|Desde luego|De acuerdo|Con gusto|Aquí está|Aquí están|Aquí tienes',
    'Aquí tiene|Aquí te dejo|A continuación|Voy a|Déjame|Permíteme|Como pediste',
    // Portuguese
    'Com certeza|Certamente|É claro|Está bem|Aqui está|Aqui estão|Aqui vai|Segue',
    'Abaixo está|A seguir|Vou|Deixe-me|Conforme solicitado',
    // French
    "Bien sûr|Certainement|Absolument|D'accord|Avec plaisir|Voici|Voilà|Ci-dessous|Je vais",
    'Laissez-moi|Comme demandé',
    // German
    'Klar|Gerne|Natürlich|Selbstverständlich|Sicher|In Ordnung|Hier ist|Hier sind',
    'Hier kommt|Im Folgenden|Nachfolgend|Ich werde|Lass mich|Lassen Sie mich|Wie gewünscht',
    // Italian
    "Certo|Certamente|Assolutamente|Naturalmente|Va bene|D'accordo|Ecco|Di seguito",
    'Lasciami|Permettimi|Come richiesto',
    // Russian
    'Конечно|Разумеется|Безусловно|Хорошо|Вот|Ниже|Сейчас я|Я напишу|Позвольте',
    'Как вы просили',
    // Arabic
    'بالتأكيد|بالطبع|طبعا|طبعًا|حسنا|حسنًا|إليك|إليكم|فيما يلي|هذا هو|سأقوم|سأكتب|دعني',
    'كما طلبت',
    // Hindi
    'ज़रूर|जरूर|बिल्कुल|बेशक|ठीक है|यहाँ|यहां|नीचे|यह रहा|यह रही|मैं लिखूँगा',
    // Indonesian
    'Tentu|Baik|Baiklah|Berikut|Ini adalah|Di bawah ini|Saya akan|Biarkan saya',
    'Izinkan saya|Sesuai permintaan',
  ],
  unspaced: [
    // Chinese
    '当然|當然|好的|好，|没问题|沒問題|以下是|下面是|这是|這是|这里是|我将|我會|我会|让我|按照您的要求|根据您的要求|按照你的要求|根据你的要求',
    // Japanese
    'もちろん|はい|承知しました|承知いたしました|わかりました|了解しました|かしこまりました|以下は|以下に|以下が|こちらが|こちらは',
  ],
};

const CLOSING_REMARKS: Phrases = {
  spaced: [
    // English
    "I have|I've|I hope|Let me know|Feel free|The file is|The file has|This file|That's",
    'All done|Hope this',
    // Spanish; a bare `He` would be an English sentence
    'He creado|He escrito|He terminado|He completado|He añadido|Espero que|Avísame',
    'Hazme saber|No dudes en|El archivo está|El archivo ha|Este archivo|Eso es todo',
    'Todo listo',
    // Portuguese
    'Criei|Escrevi|Terminei|Avise-me|Me avise|Fique à vontade|O arquivo está|O arquivo foi',
    'Este arquivo|Isso é tudo|Tudo pronto',
    // French
    "J'ai|J'espère|N'hésitez pas|N'hésite pas|Faites-moi savoir|Dites-moi|Le fichier est",
    "Le fichier a|Ce fichier|C'est tout|C'est terminé",
    // German
    'Ich habe|Ich hoffe|Lass mich wissen|Lassen Sie mich wissen|Sag Bescheid|Melde dich',
    "Die Datei ist|Die Datei hat|Die Datei wurde|Diese Datei|Das ist alles|Das war's",
    'Alles fertig',
    // Italian
    'Ho creato|Ho scritto|Ho completato|Ho finito|Spero che|Fammi sapere|Fatemi sapere',
    'Non esitare|Il file è|Il file ha|Questo file|Questo è tutto|Tutto fatto|Ecco fatto',
    // Russian
    'Я написал|Я написала|Я создал|Я создала|Надеюсь|Дайте знать|Дай знать|Сообщите',
    'Не стесняйтесь|Файл готов|Файл создан|Файл содержит|Этот файл|Это всё|Это все',
    'Всё готово|Все готово',
    // Arabic
    'لقد كتبت|لقد أنشأت|لقد قمت|لقد انتهيت|آمل|أتمنى|أخبرني|لا تتردد|الملف جاهز',
    'الملف مكتمل|هذا الملف|هذا كل شيء|انتهيت',
    // Hindi
    'मैंने|आशा है|उम्मीद है|मुझे बताएं|मुझे बताएँ|फ़ाइल तैयार|फाइल तैयार|यह फ़ाइल|यह फाइल',
    'बस इतना|हो गया',
    // Indonesian
    'Saya telah|Saya sudah|Semoga|Beri tahu saya|Jangan ragu|Berkas ini|File ini',
    'File telah|File sudah|Itu saja|Semua selesai',
  ],
  unspaced: [
    // Chinese
    '我已|希望这|希望對|希望对|如有|如果您|如果你|请告诉我|请随时|文件已|该文件|此文件|这个文件|以上就是|全部完成|已完成',
    // Japanese
    '以上です|以上が|完了しました|完成しました|作成しました|このファイル|ファイルは|お役に立て|ご不明|ご質問',
  ],
};

const LEAD = patternOf(LEADS);
const CLOSING_REMARK = patternOf(CLOSING_REMARKS);

export function opensLikeLead(line: string): boolean {
  return LEAD.test(normalized(line));
}

export function opensLikeClosingRemark(line: string): boolean {
  return CLOSING_REMARK.test(normalized(line));
}

function patternOf({ spaced, unspaced }: Phrases): RegExp {
  const words = `(?:${spaced.join('|')})(?![\\p{L}\\p{M}\\p{N}])`;
  return new RegExp(`^[¡¿]?(?:${words}|${unspaced.join('|')})`.normalize('NFC'), 'iu');
}

function normalized(line: string): string {
  return line.normalize('NFC').replaceAll('’', "'");
}
