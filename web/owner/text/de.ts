import type { Text } from './en.ts';

export const de: Text = {
  language: 'de',
  name: 'Deutsch',
  title: 'Updates auf diesem Gerät',
  forApp: (app) => ` (${app})`,
  chooseLanguage: 'Sprache',
  administrator: 'Ihr Administrator:',
  nodeNote: (node) => `In den Systemen Ihres Administrators heißt dieses Gerät ${node}.`,
  timeNote: (zone) => `Alle Uhrzeiten sind die dieses Geräts (${zone}).`,

  moment: {
    today: (time) => `heute um ${time} Uhr`,
    tomorrow: (time) => `morgen um ${time} Uhr`,
    yesterday: (time) => `gestern um ${time} Uhr`,
    other: (day, time) => `${day} um ${time} Uhr`,
  },

  connection: {
    label: 'Verbindung',
    online: 'Online',
    offline: 'Offline',
    unknown: 'Keine Antwort',
    offlineTitle: 'Dieses Gerät ist offline',
    offlineSince: (since) => `Keine Verbindung seit ${since}. Ihre Apps laufen weiter.`,
    offlineWaits:
      'Sie können trotzdem entscheiden. Ihre Entscheidung wird gespeichert und ausgeführt, sobald die Verbindung wieder da ist.',
  },

  agent: {
    loading: 'Updates werden gesucht …',
    silentTitle: 'Der Update-Dienst auf diesem Gerät antwortet nicht',
    silentSince: (since) => `Keine Antwort seit ${since}. Die Angaben unten sind vielleicht nicht mehr aktuell.`,
    silentNever: 'Die Seite konnte ihn nicht erreichen.',
    silentHelp: 'Ihre Apps sind nicht betroffen. Die Seite versucht es von selbst weiter.',
    forbiddenTitle: 'Sie haben keinen Zugang zu dieser Seite',
    forbidden: 'Der Update-Dienst kennt Sie nicht. Bitten Sie Ihren Administrator um Zugang zu diesem Gerät.',
    silentNote: 'Sie können wieder entscheiden, sobald der Update-Dienst antwortet.',
  },

  safe: {
    title: 'Gerade kein guter Moment für ein Update',
    text: (message) => `Das Gerät meldet: ${message}`,
    note: 'Updates warten, bis das Gerät sie zulässt.',
  },

  disk: {
    troubleTitle: 'Auf diesem Gerät können keine Entscheidungen gespeichert werden',
    trouble:
      'Bis das behoben ist, wird nichts aktualisiert. Bitte sagen Sie Ihrem Administrator Bescheid und entscheiden Sie danach noch einmal.',
    damageTitle: 'Einige frühere Entscheidungen waren nicht lesbar',
    damage: 'Bitte prüfen Sie die Apps unten: Vielleicht müssen Sie noch einmal entscheiden.',
    cause: 'Für Ihren Administrator:',
  },

  summary: {
    heading: 'Apps auf diesem Gerät',
    nothingNew: 'Alles ist auf dem neuesten Stand',
    nothingNewText: 'Sie müssen nichts entscheiden. Neue Versionen erscheinen hier von selbst.',
    noApps: 'Noch keine Apps',
    noAppsText: 'Auf diesem Gerät wird noch keine App über diese Seite aktualisiert.',
    nothingToDecide: 'Sie müssen nichts entscheiden',
    nothingToDecideText: 'Eine neue Version ist für dieses Gerät noch nicht freigegeben. Sie werden dann gefragt.',
    toDecide: (count) => (count === 1 ? 'Eine neue Version wartet auf Sie' : `${count} neue Versionen warten auf Sie`),
  },

  state: {
    current: 'Aktuell',
    available: 'Neue Version',
    postponed: 'Später',
    rejected: 'Abgelehnt',
    queued: 'Geplant',
    updating: 'Läuft gerade',
    failed: 'Problem',
    halted: 'Zurückgezogen',
    unknown: 'Unklar',
  },

  app: {
    installed: 'Installiert',
    published: (when) => `Veröffentlicht ${when}.`,
    newUnknown: 'Dieses Gerät kennt die Einzelheiten der neuen Version noch nicht.',
    arrow: 'wird zu',
    added: 'neuer Teil',
    removed: 'entfernt',
    same: (names) => `Unverändert: ${names}`,
    withheld: 'Noch nicht',
    withheldHelp: 'Es gibt eine neue Version, aber sie ist für dieses Gerät zurzeit nicht freigegeben.',
    notRunning: 'Die installierte Version läuft gerade nicht richtig.',
    absent: 'Die App läuft gerade nicht.',
    updatedAt: (when) => `Aktualisiert ${when}.`,
    failed: 'Die neue Version wurde installiert, läuft aber nicht richtig.',
    failedHelp:
      'Bitte sagen Sie Ihrem Administrator Bescheid. Sie werden wieder gefragt, wenn es eine bessere Version gibt.',
    halted: 'Diese Version wurde gestoppt, weil sie auf anderen Geräten Probleme gemacht hat.',
    haltedHelp: 'Sie müssen nichts tun: Die installierte Version bleibt, bis es eine bessere gibt.',
    unknown:
      'Dieses Gerät kann im Moment nicht feststellen, wie es um diese App steht. Deshalb wird nichts aktualisiert.',
    unknownHelp: 'Es versucht es von selbst wieder. Wenn das so bleibt, sagen Sie bitte Ihrem Administrator Bescheid.',
    unknownKept: 'Ihre Entscheidung bleibt gespeichert.',
    lastTry: 'Der letzte Versuch hat nicht geklappt.',
    details: 'Technische Angaben',
    detail: {
      revision: 'Revision',
      pod: 'Pod',
      namespace: 'Namespace',
      reason: 'Zustand',
      download: 'Download',
      lastTry: 'Letzter Versuch',
    },
  },

  notes: {
    title: 'Das ist neu',
    more: 'Alles zeigen',
    less: 'Weniger zeigen',
  },

  download: {
    unknown: 'Nicht geladen',
    pulling: 'Wird geladen …',
    ready: 'Geladen und bereit',
    failed: 'Die neue Version konnte nicht geladen werden.',
    installed: (size) => `Installiert: ${size}`,
    size: (size) => `Größe: ${size}`,
    button: 'Jetzt laden',
  },

  deadline: {
    text: (when) => `Von Ihrem Administrator verlangt: Wird spätestens ${when} installiert.`,
    passed: (when) => `Von Ihrem Administrator verlangt seit ${when}: Wird so bald wie möglich installiert.`,
  },

  choice: {
    legend: (app) => `Wann soll ${app} aktualisiert werden?`,
    now: 'Jetzt aktualisieren',
    nowHint: 'Die App steht kurz still.',
    nowHintTook: (duration) => `Dauerte zuletzt etwa ${duration}.`,
    nowHintOffline: 'Sobald das Gerät online ist.',
    nowHintUnsafe: 'Sobald das Gerät es zulässt.',
    tonight: 'Heute Nacht',
    tonightHint: (from, to) => `Zwischen ${from} und ${to} Uhr.`,
    later: 'Später',
    laterHint: (when) => `Erinnert Sie ${when}.`,
    laterHintDeadline: (when) => `Die Frist Ihres Administrators kommt zuerst: ${when}.`,
    reject: 'Diese Version nicht',
    change: 'Ändern',
    keep: 'Dabei bleiben',
    sending: 'Einen Moment …',
  },

  confirm: {
    title: (app) => `Diese Version von ${app} auslassen?`,
    text: 'Sie wird nicht installiert, und Sie werden nicht mehr danach gefragt. Die nächste Version wird Ihnen wie gewohnt angeboten. Sie können es sich hier jederzeit anders überlegen.',
    yes: 'Version auslassen',
    no: 'Zurück',
  },

  decided: {
    now: 'Sie wollen sofort aktualisieren.',
    window: (from, to) =>
      `Sie wollen nachts aktualisieren, zwischen ${from} und ${to} Uhr. Klappt es nicht, dann in der nächsten Nacht.`,
    windowDays: (from, to, days) => `Sie wollen zwischen ${from} und ${to} Uhr aktualisieren (${days}).`,
    safe: 'Sie wollen aktualisieren, sobald das Gerät es zulässt.',
    postponed: (when) => `Sie haben die Entscheidung verschoben. Sie werden ${when} wieder gefragt.`,
    rejected: 'Sie haben diese Version abgelehnt. Die installierte bleibt.',
    overtaken: (when) => `Sie haben entschieden, aber die Frist Ihres Administrators kommt zuerst: ${when}.`,
    deadline: 'Dieses Update ist wegen der Frist Ihres Administrators fällig.',
    at: (when) => `Entschieden ${when}.`,
  },

  steps: {
    label: (app) => `Fortschritt von ${app}`,
    decided: 'Entschieden',
    done: 'erledigt',
    current: 'läuft',
    ahead: 'steht noch aus',
    failed: 'fehlgeschlagen',
    waits: {
      connection: 'Wartet auf die Verbindung',
      window: 'Wartet auf die gewählte Zeit',
      safe: 'Wartet auf einen guten Moment',
      download: 'Wartet auf den Download',
      pause: 'Auf allen Geräten angehalten',
      turn: 'Dieses Gerät ist noch nicht dran',
      offer: 'Wartet auf die Freigabe',
      node: 'Kann hier noch nicht starten',
      retry: 'Wartet auf den nächsten Versuch',
      decision: 'Wartet auf Ihre Entscheidung',
      start: 'Beginnt gleich',
    },
    kept: 'Ihre Entscheidung gilt, sobald es weitergeht.',
    retried: 'Der letzte Versuch hat nicht geklappt. Das Gerät versucht es von selbst noch einmal.',
    decideAgain: 'Das Gerät weiß nicht mehr, wann ein guter Moment ist. Bitte wählen Sie eine andere Zeit.',
    unsure: 'Das Gerät prüft, ob das Update begonnen hat.',
    preparing: 'Die alte Version bereitet das Beenden vor.',
    waited: 'Kann beginnen',
    stopping: 'Alte Version wird beendet',
    stopped: 'Alte Version beendet',
    starting: 'Neue Version startet',
    started: 'Neue Version gestartet',
    running: 'Neue Version läuft',
    broken: 'Neue Version läuft nicht',
  },

  failures: {
    CrashLoop: 'Sie stürzt nach dem Start immer wieder ab.',
    ImageCannotBePulled: 'Sie konnte nicht geladen werden.',
    NotReadyInTime: 'Sie war nicht rechtzeitig bereit.',
  },

  notice: {
    close: 'Schließen',
    conflict: (app) =>
      `${app}: Inzwischen hat sich etwas geändert, deshalb wurde Ihre Entscheidung nicht gespeichert. Bitte prüfen Sie und entscheiden Sie dann.`,
    halted: (app) => `${app}: Diese Version wurde zurückgezogen und wird nicht installiert.`,
    notAllowed: 'Sie dürfen auf diesem Gerät nicht entscheiden. Bitten Sie Ihren Administrator um Zugang.',
    gone: (app) => `${app} ist nicht mehr auf diesem Gerät.`,
    tooMany: 'Zu viele Anfragen auf einmal. Warten Sie kurz und versuchen Sie es dann noch einmal.',
    unreachable: (app) =>
      `${app}: Der Update-Dienst hat nicht geantwortet. Ihre Entscheidung wurde vielleicht nicht gespeichert. Bitte prüfen Sie es gleich noch einmal.`,
    notSaved: (app) =>
      `${app}: Ihre Entscheidung konnte auf diesem Gerät nicht gespeichert werden. Bitte sagen Sie Ihrem Administrator Bescheid.`,
    failed: (app, code) =>
      `${app}: Das hat nicht geklappt (Fehler ${code}). Versuchen Sie es noch einmal oder sagen Sie Ihrem Administrator Bescheid.`,
    download: (app) => `${app}: Der Download konnte nicht gestartet werden. Bitte versuchen Sie es später noch einmal.`,
    downloadOffline: (app) => `${app}: Der Download konnte nicht gestartet werden, weil das Gerät offline ist.`,
  },

  live: {
    state: (app, what) => `${app}: ${what}`,
    all: (news) => `${news.join('. ')}.`,
  },

  history: {
    heading: 'Verlauf',
    empty: 'Auf diesem Gerät wurde noch nichts entschieden oder geändert.',
    all: (count) => `Alle ${count} zeigen`,
    fewer: 'Weniger zeigen',
    what: {
      Approved: 'Update zugestimmt',
      Postponed: 'Verschoben',
      Rejected: 'Version abgelehnt',
      Deleting: 'Update begonnen',
      Approving: 'Update begonnen',
      Deleted: 'Alte Version beendet',
      Updated: 'Aktualisiert',
      Failed: 'Update fehlgeschlagen',
      Refused: 'Update nicht möglich',
      NotCarriedOut: 'Update nicht begonnen',
      Superseded: 'Durch eine neuere Version ersetzt',
      Replaced: 'Entscheidung geändert',
      OutcomeUnknown: 'Ergebnis unbekannt',
      DeadlineReached: 'Frist des Administrators erreicht',
    },
    other: 'Etwas hat sich geändert',
    at: 'Sofort.',
    window: (from, to) => `Zwischen ${from} und ${to} Uhr.`,
    safe: 'Sobald das Gerät es zulässt.',
    until: (when) => `Sie werden ${when} wieder gefragt.`,
    took: (duration) => `Dauer: ${duration}.`,
    byDevice: 'vom Gerät selbst',
    byPerson: 'an diesem Gerät',
  },
};
