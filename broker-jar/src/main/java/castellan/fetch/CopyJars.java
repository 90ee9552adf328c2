package castellan.fetch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.DefaultDependencyResolutionRequest;
import org.apache.maven.project.DependencyResolutionException;
import org.apache.maven.project.MavenProject;
import org.apache.maven.project.ProjectDependenciesResolver;
import org.eclipse.aether.graph.Dependency;

/**
 * Copies the jars that a project depends on into the directory that the property
 * {@code castellan.libs} names.
 *
 * <p>Maven loads this jar as an extension of its core ({@code maven.ext.class.path}). So no
 * plugin has to be fetched and run before what it fetches can be checked: the only code
 * that runs is Maven's own and this.
 */
public final class CopyJars extends AbstractMavenLifecycleParticipant {
    private static final String LIBS = "castellan.libs";
    private static final Set<String> ON_CLASS_PATH = Set.of("compile", "runtime");

    /** Set by Maven, as META-INF/plexus/components.xml says. */
    private ProjectDependenciesResolver resolver;

    @Override
    public void afterProjectsRead(MavenSession session) throws MavenExecutionException {
        String libs = session.getUserProperties().getProperty(LIBS);
        if (libs == null) {
            return;
        }
        MavenProject project = session.getCurrentProject();
        var request = new DefaultDependencyResolutionRequest(project, session.getRepositorySession());
        request.setResolutionFilter((node, parents) -> isOnClassPath(node.getDependency()));
        try {
            Path target = Files.createDirectories(project.getBasedir().toPath().resolve(libs));
            for (Dependency dependency : resolver.resolve(request).getResolvedDependencies()) {
                Path jar = dependency.getArtifact().getFile().toPath();
                Files.copy(jar, target.resolve(jar.getFileName()));
            }
        } catch (DependencyResolutionException | IOException e) {
            throw new MavenExecutionException(e.getMessage(), e);
        }
    }

    /** The project itself is the root of its tree, and depends on nothing. */
    private static boolean isOnClassPath(Dependency dependency) {
        return dependency == null || ON_CLASS_PATH.contains(dependency.getScope());
    }
}
