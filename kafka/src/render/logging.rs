//! Where a broker's log lines go: one file, rolled by size and bounded, so that
//! a broker in trouble can't fill its host's disk with words.

use crate::versions::Logging;

pub const fn file_name(logging: Logging) -> &'static str {
    match logging {
        Logging::Reload4j => "log4j.properties",
        Logging::Log4j2 => "log4j2.properties",
    }
}

pub const fn text(logging: Logging) -> &'static str {
    match logging {
        Logging::Reload4j => RELOAD4J,
        Logging::Log4j2 => LOG4J2,
    }
}

// `AbstractConfig` prints every setting several times a start; what was set is
// in server.properties beside it.
const RELOAD4J: &str = "\
log4j.rootLogger=INFO, file
log4j.logger.org.apache.kafka.common.config.AbstractConfig=WARN
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File=logs/server.log
log4j.appender.file.MaxFileSize=10MB
log4j.appender.file.MaxBackupIndex=4
log4j.appender.file.layout=org.apache.log4j.EnhancedPatternLayout
log4j.appender.file.layout.ConversionPattern=%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}{UTC} %p %m (%c)%n
";

const LOG4J2: &str = "\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = logs/server.log
appender.file.filePattern = logs/server.log.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}{UTC} %p %m (%c)%n
appender.file.policies.type = SizeBasedTriggeringPolicy
appender.file.policies.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 4
logger.config.name = org.apache.kafka.common.config.AbstractConfig
logger.config.level = warn
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
";
